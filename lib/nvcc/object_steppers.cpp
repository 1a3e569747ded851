#include <set>

#include "base/build_layout.h"
#include "base/digest.h"
#include "inputs/depfile.h"
#include "inputs/unnamed_files.h"
#include "nvcc/assembler_depfile.h"
#include "nvcc/host_text.h"
#include "nvcc/slice_stepper.h"

namespace dsbuild {
namespace {

Path folder_of(const StepUnit& unit) {
  const Path folder = Path(unit.path).parent_path();
  return folder.empty() ? "." : folder;
}

// cudafe1.cpp, the stub that it includes, and what that includes in place of all images.
struct HostTexts {
  std::string source, stub, shim;
};

// The result's key is made of the text and of what was read with it.
class HostStepper : public SliceStepper {
 public:
  HostStepper(const StepUnit& unit, Engine& engine, HostTexts texts)
      : SliceStepper(unit, engine),
        texts_(std::move(texts)),
        key_(unit.key_of(unit.text_for_key(texts_.source) + '\0' + unit.text_for_key(texts_.stub) + '\0' +
                             texts_.shim,
                         unit.step.commands)
                 .digest()),
        lines_(sha256(texts_.source + '\0' + texts_.stub)) {}

  // By the files as they are, which a plan foresees; else by their text.
  std::optional<Record> lookup(ActionRun& action) const override {
    if (auto same = action.lookup()) return same;
    auto known = action.lookup_text(key_, input_files());
    return known && names_lines_of(*known, lines_) ? std::move(known) : std::nullopt;
  }
  void share(ActionRun& action, const Record& record) const override {
    const std::vector<std::string> texts = input_files();
    Record by_text = record, whole = record;
    std::erase_if(by_text.inputs, [&](const FileDigest& input) {
      return std::ranges::find(texts, input.path) != texts.end();
    });
    action.share_by_text(by_text);
    add_inputs(whole, action);
    action.share(whole);
  }

  Result<Made> make(Engine& engine) override {
    FileSystem& files = engine.files();
    DSBUILD_CHECK(files.write_file(unit_.in_scratch(".cudafe1.cpp"), texts_.source));
    DSBUILD_CHECK(files.write_file(unit_.in_scratch(k_stub_end), texts_.stub));
    DSBUILD_CHECK(files.write_file(unit_.in_scratch(".fatbin.c"), texts_.shim));
    const std::string& end = unit_.step.outputs.front();
    DSBUILD_TRY(parted, tools_.compile_in_parts(plain_command(), ".cudafe1.cpp"));
    if (!parted) {
      engine.acquire_full();
      DSBUILD_TRY(code, tools_.run_in_build_folder(command()));
      if (code != 0) return Made::failed(code);
      DSBUILD_TRY(whole, files.read_file(unit_.in_scratch(end)));
      parted = std::move(whole);
    }
    std::string object = std::move(*parted);
    DSBUILD_TRY(read, files_read(object));
    Made made{0, ResultOrigin::tools, {}, make_record(read), {}};
    made.outputs.push_back({end, std::move(object)});
    // Else what was read may have changed since: the object may be of something else.
    if (can_hold(made.record)) made.record.result = result_key(made.record);
    return made;
  }

  Result<void> complete(Record& record, ActionRun& action) const override {
    add_inputs(record, action);
    return {};
  }

 private:
  void add_inputs(Record& record, ActionRun& action) const {
    for (FileDigest& input : action.make_record({input_files(), {}}).inputs)
      if (std::ranges::find(record.inputs, input) == record.inputs.end())
        record.inputs.push_back(std::move(input));
  }

  std::string depfile_of_assembler() const { return unit_.in_scratch(k_assembler_depfile_end); }

  // The host's compiler has relative include folders, so it runs in the build folder.
  Args plain_command() const {
    Args command = unit_.step.commands.front();
    // Debug information names the folder that the compiler runs in, and the file that it is given.
    const std::string map = "-fdebug-prefix-map=", to = "=" + unit_.folder_in_objects;
    command.push_back(map + engine_.files().absolute(".").string() + to);
    command.push_back(map + unit_.scratch.string() + to);
    command.insert(command.end(), {"-MD", "-MF", std::string(k_any_unit) + ".d", "-MT", "object"});
    return command;
  }

  Args command() const {
    Args command = plain_command();
    if (engine_.action().assembler_tells())
      for (std::string& word : words_for_assembler(command, depfile_of_assembler()))
        command.push_back(std::move(word));
    return command;
  }

  // What the compiler includes with the text (the runtime's crt/host_runtime.h) its depfile names, and what
  // is assembled with it the assembler's. Without what was only copied to the compiler.
  Result<FilesRead> files_read(const std::string& object) const {
    const std::string scratch = unit_.scratch.string();
    DSBUILD_TRY(depfile, engine_.files().read_file(unit_.in_scratch(".d")));
    FilesRead read{files_in_depfile(depfile), unit_.step.commands.front()};
    if (const PathMap& place = unit_.step.place; !place.empty()) {
      for (std::string& file : read.files)
        if (!file.starts_with(scratch)) file = place.own_name(file);
      read.command = place.own_words(std::move(read.command));
    }
    add_files_of_assembler(depfile_of_assembler(), object, read, engine_.files());
    std::erase_if(read.files, [&](const std::string& file) { return file.starts_with(scratch); });
    return read;
  }

  Record make_record(const FilesRead& read) {
    Record record = engine_.action().make_record(read);
    if (read.by_silent_assembler && may_read_in_assembler(texts_.source))
      record.incomplete =
          unit_.request.source.empty() ? path_of(unit_.step.inputs.front()) : unit_.request.source;
    record.given = key_;
    record.tool_output_source = lines_;
    add_tool_output(record, k_compiler, tools_.take_output());
    return record;
  }

  ResultKey result_key(const Record& record) const {
    std::string read = record.others;
    for (const FileDigest& input : record.inputs)
      read += '\0' + input.path + '\0' + input.digest;
    return {Key().add("text", key_).add_bytes("besides", read).digest(), ""};
  }

  const HostTexts texts_;
  const std::string key_, lines_;  // of the texts without and with their lines
};

// ".compute_80" of ".compute_80.sm_80.cubin".
std::string arch_of(const std::string& end) {
  return end.substr(0, end.find('.', 1));
}

// Its result is known by the images themselves.
class FatbinStepper : public SliceStepper {
 public:
  using SliceStepper::SliceStepper;

  std::optional<Record> lookup(ActionRun&) const override { return std::nullopt; }
  void share(ActionRun&, const Record&) const override {}

  Result<Made> make(Engine& engine) override {
    Record record = engine.action().make_record({input_files(), {}});
    record.result = {key_of_images(record), ""};
    if (auto taken = engine.take(*this, record.result)) {
      replay(taken->record.tool_output, record);
      taken->record = std::move(record);
      return std::move(*taken);
    }
    engine.acquire_full();
    DSBUILD_TRY(code, join_images());
    if (code != 0) return Made::failed(code);
    add_tool_output(record, k_assembler, tools_.take_output());
    Made made{0, ResultOrigin::tools, {}, std::move(record), path_of(k_object_end) + k_temporary_end};
    DSBUILD_TRY(object, engine.files().read_file(made.temporary));
    made.outputs.push_back({unit_.step.outputs.front(), std::move(object)});
    return made;
  }

  // What slices have left that are no longer in the plan.
  Result<void> clear_others(const CacheEntry&, FileSystem& files) const override {
    const Path folder = folder_of(unit_);
    std::set<std::string> archs;
    for (const std::string& image : unit_.step.inputs)
      archs.insert(arch_of(image));
    DSBUILD_TRY(names, files.list(folder));
    for (const std::string& name : names)
      if (name.starts_with(unit_.stem + ".compute_") &&
          archs.count(arch_of(name.substr(unit_.stem.size()))) == 0)
        DSBUILD_CHECK(files.remove_all(folder / name));
    return {};
  }

 private:
  static constexpr const char *k_object_end = ".o", *k_fatbin_end = ".fatbin", *k_assembler_end = ".fatbin.s";

  std::string assembly() const {
    return fatbin_assembly(images_symbol(unit_.module_id), unit_.stem + k_fatbin_end);
  }

  // The commands name the images, so digests in their order are enough.
  std::string key_of_images(const Record& record) const {
    std::string text = assembly();
    for (const FileDigest& image : record.inputs)
      text += '\0' + image.path.substr(unit_.path.size()) + '\0' + image.digest;
    return unit_.key_of(text, unit_.step.commands).digest();
  }

  // fatbinary writes the names that it is given, so the commands run in the folder of the images.
  Result<int> join_images() {
    FileSystem& files = engine_.files();
    DSBUILD_CHECK(files.write_file(path_of(k_assembler_end), assembly()));
    for (Args command : unit_.step.commands) {
      command = unit_.expand(command, unit_.stem);
      if (command.back() == unit_.stem + k_object_end) command.back() += k_temporary_end;
      DSBUILD_TRY(code, tools_.run(command, folder_of(unit_)));
      if (code != 0) return code;
    }
    (void)files.remove_all(path_of(k_assembler_end));
    (void)files.remove_all(path_of(k_fatbin_end));
    return 0;
  }
};

}  // namespace

Result<std::unique_ptr<Stepper>> make_host_stepper(const StepUnit& unit, Engine& engine) {
  HostTexts texts;
  DSBUILD_TRY(source, engine.files().read_file(unit.path + unit.step.inputs.at(0)));
  DSBUILD_TRY(stub, engine.files().read_file(unit.path + unit.step.inputs.at(1)));
  return std::make_unique<HostStepper>(
      unit, engine,
      HostTexts{std::move(source), std::move(stub), fatbin_shim(images_symbol(unit.module_id))});
}

std::unique_ptr<Stepper> make_fatbin_stepper(const StepUnit& unit, Engine& engine) {
  return std::make_unique<FatbinStepper>(unit, engine);
}

}  // namespace dsbuild
