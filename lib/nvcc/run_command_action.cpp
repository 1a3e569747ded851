#include "nvcc/run_command_action.h"

#include <algorithm>
#include <set>

#include "base/build_layout.h"
#include "inputs/depfile.h"
#include "inputs/path_origin.h"
#include "inputs/preprocessor_words.h"
#include "nvcc/assembler_depfile.h"
#include "nvcc/compile_in_parts.h"
#include "nvcc/preprocess.h"

namespace dsbuild {
namespace {

constexpr const char* k_output_name = "output";  // of an object or a library, in its result

// icpx's and nvcc's: they read the objects that they are given, and the tools.
bool is_device_link(const Args& command) {
  return has_word(command, "-fsycl-link") || has_word(command, "-dlink");
}

// A command whose files or messages are not all in its output and its words: files of options and profiles
// that no depfile names, files written next to the output, and what it is run for is what it prints. nvcc
// with
// --keep is to make what slices are compared with.
bool has_more_results(const CommandAction& step) {
  static const Args of_more = {
      "@",           "-optf",        "--options-file", "-specs",          "-fplugin",
      "-fprofile",   "--coverage",   "-coverage",      "-ftest-coverage", "-gsplit-dwarf",
      "-save-temps", "--save-temps", "-fstack-usage",  "-fdump-",         "-v",
      "--verbose",   "--keep",       "-keep",          "-Wl,-Map",        "-Wl,--Map",
      "-Wl,-M",      "-Wl,--cref",   "-Xlinker"};
  Args command = step.command;
  std::erase(command, "@" + step.output + k_objects_list_end);  // its text is in the key
  return !is_device_link(command) && has_option(command, of_more);
}

// Ops have objects of their own.
Args without_outputs(const Args& command) {
  static const Args of_outputs = {"-o", "-MF", "-MT"};
  Args left;
  for (size_t i = 0; i < command.size(); ++i) {
    if (has_word(of_outputs, command[i]))
      ++i;
    else
      left.push_back(command[i]);
  }
  return left;
}

class CommandActionStepper : public Stepper {
 public:
  CommandActionStepper(const CommandAction& step, Engine& engine)
      : step_(step),
        engine_(engine),
        action_(engine.action()),
        files_(engine.files()),
        is_cached_(!has_more_results(step)) {}

  std::string path_of(const std::string&) const override { return step_.output; }
  std::vector<std::string> output_names() const override { return {k_output_name}; }
  bool is_cached() const override { return is_cached_; }

  Result<Made> make(Engine&) override {
    if (is_cached_ && step_.is_known_by_text && action_.cache())
      if (auto by_text = take_by_text()) return std::move(*by_text);
    const std::string temporary = step_.output + k_temporary_end;
    DSBUILD_CHECK(files_.remove_all(temporary));
    DSBUILD_CHECK(files_.remove_all(depfile_of_assembler()));
    if (is_cached_ && is_assembled()) {
      DSBUILD_TRY(object, object_in_parts());
      if (object) return made_in_parts(std::move(*object));
    }
    engine_.acquire_full();
    DSBUILD_TRY(ran, engine_.run({here(command())}));
    std::string output = ran.out + ran.err;
    engine_.print(output);
    if (ran.exit_code != 0) return Made::failed(ran.exit_code);
    DSBUILD_TRY(bytes, files_.read_file(temporary));
    Made made{0, ResultOrigin::tools, {}, make_record(bytes), temporary};
    add_tool_output(made.record, k_compiler, std::move(output));
    made.outputs.push_back({k_output_name, std::move(bytes)});
    if (can_hold(made.record)) made.record.result.digest = text_key_;
    return made;
  }

 private:
  Command here(Args argv) const {
    return {std::move(argv), engine_.machine().environment, {}, std::chrono::hours(24)};
  }

  Result<std::optional<std::string>> object_in_parts() {
    if (!engine_.may_run_elsewhere()) return std::nullopt;
    const Path scratch = step_.output + k_scratch_end;
    DSBUILD_CHECK(files_.make_empty_directory(scratch));
    auto object = compile_in_parts({step_.command,
                                    value_of(step_.command, "-c"),
                                    engine_.machine().environment,
                                    {},
                                    scratch,
                                    Path(step_.output).stem().string()},
                                   engine_);
    (void)files_.remove_all(scratch);
    return object;
  }

  Made made_in_parts(std::string object) {
    Made made{0, ResultOrigin::tools, {}, make_record(object), {}};
    made.outputs.push_back({k_output_name, std::move(object)});
    if (can_hold(made.record)) made.record.result.digest = text_key_;
    return made;
  }

  // The object of another op's compile, where that was given the same text and nothing else.
  std::optional<Made> take_by_text() {
    engine_.acquire_probe();
    const auto text =
        preprocessed_text(step_.command, engine_.run({here(preprocess_command(step_.command))}));
    if (!text) return std::nullopt;  // the compiler will say why
    text_key_ = action_.key_of_text(words_behind_preprocessor(without_outputs(step_.command)), *text);
    auto made = engine_.take(*this, {text_key_, ""});
    if (!made) return std::nullopt;
    Record record = action_.make_record(files_read());
    if (!action_.precompiled_headers(record).empty()) return std::nullopt;
    record.result.digest = text_key_;
    record.tool_output = std::move(made->record.tool_output);
    for (const ToolOutput& output : record.tool_output)
      engine_.print(output.text);
    made->record = std::move(record);
    return made;
  }

  std::string depfile_of_assembler() const { return step_.output + k_assembler_depfile_end; }

  // A header that is precompiled is not assembled.
  bool is_assembled() const { return !is_link() && !has_word(step_.command, "c++-header"); }

  Args command() const {
    Args words = step_.command;
    if (is_assembled() && action_.assembler_tells())
      for (std::string& word : words_for_assembler(words, depfile_of_assembler()))
        words.push_back(std::move(word));
    return words;
  }

  Record make_record(const std::string& bytes) {
    FilesRead read = files_read();
    const std::set<std::string> preprocessed(read.files.begin(), read.files.end());
    if (is_assembled()) add_files_of_assembler(depfile_of_assembler(), bytes, read, files_);
    // Of what the assembler read besides, the text says nothing: another op's folders may hold other files.
    for (const std::string& file : read.files)
      if (preprocessed.count(file) == 0) text_key_.clear();
    // What it makes is none of what it reads: the output, and what -flto links in its place.
    const std::string temporaries = variable(engine_.machine().environment, "TMPDIR") + "/";
    std::erase_if(read.files, [&](const std::string& file) {
      return file == step_.output + k_temporary_end || (temporaries != "/" && file.starts_with(temporaries));
    });
    std::sort(read.files.begin(), read.files.end());
    read.files.erase(std::unique(read.files.begin(), read.files.end()), read.files.end());
    Record record = action_.make_record(read);
    if (!action_.precompiled_headers(record).empty()) text_key_.clear();
    if (is_link() && !is_device_link(step_.command))
      record.incomplete = linker_tells() ? incomplete_in_link(read.files) : step_.output;
    return record;
  }

  // One without --dependency-file, or whose file was lost, may have read any library.
  bool linker_tells() const {
    const auto depfile = files_.read_file(step_.output + k_depfile_end);
    return depfile && !files_in_link_depfile(*depfile, [](const std::string&) { return true; }).empty();
  }

  // What an object's own record could not say, where the link assembles it.
  std::string incomplete_in_link(const std::vector<std::string>& objects) const {
    for (const std::string& object : objects) {
      const auto text = files_.read_file(record_file(object));
      const auto record = text ? parse_record(*text) : std::nullopt;
      if (!record || record->incomplete.empty()) continue;
      const auto bytes = files_.read_file(object);
      if (bytes && is_assembled_in_link(*bytes)) return record->incomplete;
    }
    return "";
  }

  FilesRead files_read() const {
    FilesRead read;
    if (const auto depfile = files_.read_file(step_.output + k_depfile_end))
      read.files =
          is_link()
              ? files_in_link_depfile(
                    *depfile, [&](const std::string& file) { return files_.kind(file) == FileKind::file; })
              : files_in_depfile(*depfile);
    read.command = step_.command;
    if (const auto objects = files_.read_file(step_.output + k_objects_list_end))
      for (std::string& object : shell_split(*objects))
        read.files.push_back(std::move(object));
    for (size_t i = 0; i + 1 < step_.command.size(); ++i)
      if (step_.command[i] == "-include") add_files_of_precompiled(step_.command[i + 1] + ".gch", read.files);
    return read;
  }

  bool is_link() const { return value_of(step_.command, "-c").empty(); }

  // No depfile of its users names them, whether gcc took it or passed over an empty one.
  void add_files_of_precompiled(const std::string& header, std::vector<std::string>& read) const {
    const auto text = files_.read_file(record_file(header));
    const auto record = text ? parse_record(*text) : std::nullopt;
    if (!record) return;
    for (const FileDigest& file : record->inputs)
      read.push_back(file.path);
    for (const std::string& path : action_.files_of_list(record->others))
      read.push_back(path);
  }

  const CommandAction& step_;
  Engine& engine_;
  ActionRun& action_;
  FileSystem& files_;
  const bool is_cached_;
  std::string text_key_;  // in the cache; "" where the text is not known
};

// A header that too few users still need: an empty file in its place, for which nothing is read.
class SparedHeader : public Stepper {
 public:
  explicit SparedHeader(const CommandAction& step) : step_(step) {}

  std::string path_of(const std::string&) const override { return step_.output; }
  std::vector<std::string> output_names() const override { return {k_output_name}; }
  bool is_cached() const override { return false; }
  Result<Made> make(Engine& engine) override {
    Record record = engine.action().make_record({{value_of(step_.command, "-c")}, {}});
    return Made{0, ResultOrigin::cache, {{k_output_name, ""}}, std::move(record), {}};
  }

 private:
  const CommandAction& step_;
};

// Whether too few of the header's users would be compiled for it to pay: the others are in the cache.
bool is_spared(const CommandAction& header, System& system) {
  const auto text = system.files.read_file(header.output + k_users_end);
  if (!text) return false;
  const std::vector<std::string> lines = split_lines(*text);
  size_t still_needed = lines.empty() ? 0 : whole_number<size_t>(lines.front()).value_or(0);
  for (size_t i = 1; i < lines.size() && still_needed > 0; ++i) {
    const StepWords words = shell_split(lines[i]);
    if (!ActionRun(words, system).lookup()) --still_needed;
  }
  return still_needed > 0;
}

}  // namespace

Result<StepEnd> run_command_action(const CommandAction& step, Engine& engine) {
  const bool is_header = has_word(step.command, "c++-header");
  if (is_header && is_spared(step, engine.machine())) {
    SparedHeader header(step);
    return engine.drive(header);
  }
  CommandActionStepper stepper(step, engine);
  return engine.drive(stepper);
}

}  // namespace dsbuild
