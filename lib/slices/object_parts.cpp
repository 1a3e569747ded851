#include <set>

#include "base/digest.h"
#include "slices/host_text.h"
#include "slices/step_parts.h"
#include "slices/unnamed_files.h"

namespace dsbuild {
namespace {

// The images' name, in the host's object and in theirs.
std::string images_symbol(const StepUnit& unit) {
  return "dsbuild_fatbin_" + sha256(unit.module_id).substr(0, 32);
}

Path folder_of(const StepUnit& unit) {
  const Path folder = Path(unit.path).parent_path();
  return folder.empty() ? "." : folder;
}

// Debug information names the folder that the compiler runs in, and the file that it is given.
Words debug_maps(const StepPart& part) {
  const std::string map = "-fdebug-prefix-map=", to = "=" + part.unit.folder_in_objects;
  return {map + part.files.absolute(".").string() + to, map + part.unit.scratch.string() + to};
}

// The host's compiler has relative include folders, so it runs in the build folder.
Result<int> make_host(StepPart& part, const std::string& key) {
  const std::string& end = part.unit.step.outputs.front();
  Words command = part.unit.step.commands.front();
  const Words maps = debug_maps(part);
  command.insert(command.end(), maps.begin(), maps.end());
  DSBUILD_TRY(code, part.tools.run_in_build_folder(command));
  if (code != 0) return code;
  DSBUILD_TRY(object, part.files.read_file(part.unit.in_scratch(end)));
  DSBUILD_CHECK(part.results.publish(key, {{end, std::move(object)}}));
  part.tools.done();
  return 0;
}

// fatbinary writes the names that it is given, so the commands run beside the images.
Result<int> run_beside_images(StepPart& part) {
  const StepUnit& unit = part.unit;
  for (Words command : unit.step.commands) {
    command = unit.expand(command, unit.stem);
    if (command.back() == unit.stem + ".o") command.back() += ".tmp";
    DSBUILD_TRY(code, part.tools.run(command, folder_of(unit)));
    if (code != 0) return code;
  }
  return 0;
}

// ".compute_80" of ".compute_80.sm_80.cubin".
std::string arch_of(const std::string& end) {
  return end.substr(0, end.find('.', 1));
}

// What slices have left that are no longer in the plan.
Result<void> remove_other_archs(StepPart& part) {
  const StepUnit& unit = part.unit;
  const Path folder = folder_of(unit);
  std::set<std::string> archs;
  for (const std::string& image : unit.step.inputs)
    archs.insert(arch_of(image));
  DSBUILD_TRY(names, part.files.list(folder));
  for (const std::string& name : names)
    if (name.starts_with(unit.stem + ".compute_") && archs.count(arch_of(name.substr(unit.stem.size()))) == 0)
      DSBUILD_CHECK(part.files.remove_all(folder / name));
  return {};
}

}  // namespace

// cudafe1.cpp, the stub that it includes, and what that includes in place of all images.
Result<int> run_host(StepPart& part) {
  const StepUnit& unit = part.unit;
  DSBUILD_TRY(source, part.files.read_file(unit.path + unit.step.inputs.at(0)));
  DSBUILD_TRY(stub, part.files.read_file(unit.path + unit.step.inputs.at(1)));
  const std::string shim = fatbin_shim(images_symbol(unit));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(".cudafe1.cpp"), source));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(k_stub_end), stub));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(".fatbin.c"), shim));
  if (reads_unnamed_files(source)) part.results.keep_nothing();
  const std::string key = unit.key_of(
      unit.text_for_key(source) + '\0' + unit.text_for_key(stub) + '\0' + shim, unit.step.commands);
  return make_unless_there(part, key, [&] { return make_host(part, key); });
}

Result<int> run_fatbin(StepPart& part) {
  const StepUnit& unit = part.unit;
  const std::string assembler = unit.path + ".fatbin.s";
  part.tools.wait_to_work();
  DSBUILD_CHECK(
      part.files.write_file(assembler, fatbin_assembly(images_symbol(unit), unit.stem + ".fatbin")));
  DSBUILD_TRY(code, run_beside_images(part));
  if (code != 0) return code;
  DSBUILD_CHECK(part.files.rename(unit.path + ".o.tmp", unit.path + ".o"));
  (void)part.files.remove_all(assembler);
  (void)part.files.remove_all(unit.path + ".fatbin");
  DSBUILD_CHECK(remove_other_archs(part));
  part.tools.done();
  return 0;
}

}  // namespace dsbuild
