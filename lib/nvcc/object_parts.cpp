#include <set>

#include "base/build_layout.h"
#include "base/digest.h"
#include "inputs/depfile.h"
#include "inputs/unnamed_files.h"
#include "nvcc/assembler_depfile.h"
#include "nvcc/host_text.h"
#include "nvcc/step_parts.h"

namespace dsbuild {
namespace {

Path folder_of(const StepUnit& unit) {
  const Path folder = Path(unit.path).parent_path();
  return folder.empty() ? "." : folder;
}

// Debug information names the folder that the compiler runs in, and the file that it is given.
Words debug_maps(const StepPart& part) {
  const std::string map = "-fdebug-prefix-map=", to = "=" + part.unit.folder_in_objects;
  return {map + part.files.absolute(".").string() + to, map + part.unit.scratch.string() + to};
}

struct HostObject {
  int code = 0;  // the compiler's
  std::string bytes;
  FilesRead read;  // without what was only copied beside the compiler
};

// The host's compiler has relative include folders, so it runs in the build folder. What it includes besides
// the text (the runtime's crt/host_runtime.h) its depfile names, and what is assembled with it the
// assembler's.
Result<HostObject> make_host(StepPart& part) {
  const StepUnit& unit = part.unit;
  Words command = unit.step.commands.front();
  const Words maps = debug_maps(part);
  command.insert(command.end(), maps.begin(), maps.end());
  command.insert(command.end(), {"-MD", "-MF", std::string(k_any_unit) + ".d", "-MT", "object"});
  const std::string of_assembler = unit.in_scratch(k_assembler_depfile_end);
  if (part.action.assembler_tells())
    for (std::string& word : words_for_assembler(command, of_assembler))
      command.push_back(std::move(word));
  HostObject object;
  DSBUILD_TRY(code, part.tools.run_in_build_folder(command));
  object.code = code;
  if (code != 0) return object;
  DSBUILD_TRY(bytes, part.files.read_file(unit.in_scratch(unit.step.outputs.front())));
  object.bytes = std::move(bytes);
  DSBUILD_TRY(depfile, part.files.read_file(unit.in_scratch(".d")));
  object.read = {files_in_depfile(depfile), unit.step.commands.front()};
  if (const SourcePlace& place = unit.step.place; !place.empty()) {
    for (std::string& file : object.read.files)
      if (!file.starts_with(unit.scratch.string())) file = place.own_name(file);
    object.read.command = place.own_words(std::move(object.read.command));
  }
  add_files_of_assembler(of_assembler, object.bytes, object.read, part.files);
  std::erase_if(object.read.files,
                [&](const std::string& file) { return file.starts_with(unit.scratch.string()); });
  return object;
}

std::vector<std::string> input_files(const StepUnit& unit) {
  std::vector<std::string> files;
  for (const std::string& input : unit.step.inputs)
    files.push_back(unit.path + input);
  return files;
}

// `record`: of what was read besides the text, now or when the same text was compiled before.
Result<int> finish_host(StepPart& part, Record record) {
  for (FileDigest& input : part.action.describe({input_files(part.unit), {}}).inputs)
    record.inputs.push_back(std::move(input));
  DSBUILD_CHECK(part.action.write(std::move(record), part.unit.outputs()));
  return 0;
}

// `source`: the text, and the keys of it without and with its lines. The first and what was read besides it
// are the object's.
Record describe_host(StepPart& part, const HostObject& object, const std::string& source,
                     const std::string& key, const std::string& lines) {
  const StepUnit& unit = part.unit;
  Record record = part.action.describe(object.read);
  if (object.read.by_silent_assembler && may_read_in_assembler(source))
    record.incomplete =
        unit.request.source.empty() ? unit.path + unit.step.inputs.front() : unit.request.source;
  record.given = key;
  record.said_of = lines;
  add_said(record, k_compiler, part.tools.take_said());
  std::string besides = record.others;
  for (const FileDigest& input : record.inputs)
    besides += '\0' + input.path + '\0' + input.digest;
  record.result.digest = Key().add("text", key).add_bytes("besides", besides).digest();
  return record;
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
  const std::string shim = fatbin_shim(images_symbol(unit.module_id));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(".cudafe1.cpp"), source));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(k_stub_end), stub));
  DSBUILD_CHECK(part.files.write_file(unit.in_scratch(".fatbin.c"), shim));
  const std::string key =
      unit.key_of(unit.text_for_key(source) + '\0' + unit.text_for_key(stub) + '\0' + shim,
                  unit.step.commands)
          .digest();
  const std::string lines = sha256(source + '\0' + stub);
  const auto known = part.action.recall_of_text(key, input_files(unit));
  if (known && names_lines_of(*known, lines)) {
    DSBUILD_TRY(is_there, part.results.take(known->result));
    if (is_there) {
      part.tools.say_again(known->said);
      return finish_host(part, *known);
    }
  } else {
    part.results.note_miss();
  }
  part.tools.wait_to_work();
  DSBUILD_TRY(object, make_host(part));
  if (object.code != 0) return object.code;
  Record record = describe_host(part, object, source, key, lines);
  // Its key is made of what was read, and that may have changed since: the object may be of something else.
  if (!can_hold(record)) {
    part.results.keep_nothing();
    record.result = {};
  }
  const StoreEntry outputs = {{unit.step.outputs.front(), std::move(object.bytes)}};
  DSBUILD_CHECK(part.results.publish(record.result, {outputs, outputs}, {}, {}));
  part.action.keep_of_text(record);
  return finish_host(part, std::move(record));
}

Result<int> run_fatbin(StepPart& part) {
  const StepUnit& unit = part.unit;
  const std::string assembler = unit.path + ".fatbin.s";
  part.tools.wait_to_work();
  DSBUILD_CHECK(part.files.write_file(assembler,
                                      fatbin_assembly(images_symbol(unit.module_id), unit.stem + ".fatbin")));
  DSBUILD_TRY(code, run_beside_images(part));
  if (code != 0) return code;
  DSBUILD_CHECK(part.files.rename(unit.path + ".o.tmp", unit.path + ".o"));
  (void)part.files.remove_all(assembler);
  (void)part.files.remove_all(unit.path + ".fatbin");
  DSBUILD_CHECK(remove_other_archs(part));
  DSBUILD_CHECK(part.action.write(part.action.describe({input_files(unit), {}}), unit.outputs()));
  return 0;
}

}  // namespace dsbuild
