#include "nvcc/run_whole_step.h"

#include <algorithm>
#include <set>

#include "base/build_layout.h"
#include "inputs/depfile.h"
#include "inputs/layout.h"
#include "inputs/preprocessor_words.h"
#include "nvcc/assembler_depfile.h"
#include "nvcc/preprocess.h"

namespace dsbuild {
namespace {

// In the store's entry. What was said comes second, where anything was.
constexpr const char *k_object = "object", *k_said = "said";

bool is_of_object(const std::optional<StoreEntry>& entry) {
  if (!entry || entry->empty() || entry->front().name != k_object) return false;
  return entry->size() == 1 || (entry->size() == 2 && entry->back().name == k_said);
}

// icpx's and nvcc's: they read the objects that they are given, and the tools.
bool is_device_link(const Words& command) {
  return has_word(command, "-fsycl-link") || has_word(command, "-dlink");
}

// A command whose files or messages are not all in its object and its words: files of options and profiles
// that no depfile names, files written beside the object, and what it is run for is what it prints. nvcc with
// --keep is to make what slices are compared with.
bool is_kept(const Words& command) {
  if (is_device_link(command)) return true;
  static const Words of_more = {
      "@",           "-optf",        "--options-file", "-specs",          "-fplugin",
      "-fprofile",   "--coverage",   "-coverage",      "-ftest-coverage", "-gsplit-dwarf",
      "-save-temps", "--save-temps", "-fstack-usage",  "-fdump-",         "-v",
      "--verbose",   "--keep",       "-keep"};
  return !value_of(command, "-c").empty() && !has_option(command, of_more);
}

// Ops have objects of their own.
Words without_outputs(const Words& command) {
  static const Words of_outputs = {"-o", "-MF", "-MT"};
  Words left;
  for (size_t i = 0; i < command.size(); ++i) {
    if (has_word(of_outputs, command[i]))
      ++i;
    else
      left.push_back(command[i]);
  }
  return left;
}

class WholeRun {
 public:
  WholeRun(const WholeStep& step, ActionRun& action, System& system, const WholeTools& tools)
      : step_(step), action_(action), system_(system), files_(system.files), tools_(tools) {}

  Result<StepEnd> run() {
    const bool is_kept_in_cache = is_kept(step_.command);
    if (is_kept_in_cache) {
      DSBUILD_TRY(is_there, take());
      if (is_there) return StepEnd{0, MadeOf::cache};
      DSBUILD_TRY(is_same_text, take_by_text());
      if (is_same_text) return StepEnd{0, MadeOf::cache};
    }
    const std::string temporary = step_.output + k_temporary_end;
    DSBUILD_CHECK(files_.remove_all(temporary));
    DSBUILD_CHECK(files_.remove_all(depfile_of_assembler()));
    std::string said;
    DSBUILD_TRY(code, tools_.run(command(), said));
    if (code != 0) return StepEnd{code, MadeOf::nothing_said};
    DSBUILD_TRY(bytes, files_.read_file(temporary));
    Record record = describe(bytes);
    add_said(record, k_compiler, std::move(said));
    DSBUILD_CHECK(put_output(bytes));
    if (is_kept_in_cache && can_hold(record)) keep(record, std::move(bytes));
    DSBUILD_CHECK(action_.write(std::move(record), {step_.output}));
    return StepEnd{0, MadeOf::tools};
  }

  // Of a header that is not precompiled: nothing was read for it.
  Result<StepEnd> spare() {
    DSBUILD_CHECK(put_output(""));
    Record record = action_.describe({{value_of(step_.command, "-c")}, {}});
    DSBUILD_CHECK(action_.write(std::move(record), {step_.output}));
    return StepEnd{0, MadeOf::cache};
  }

 private:
  // Takes the object, where all that it was made of is as it was.
  Result<bool> take() {
    const auto known = action_.recall();
    const auto entry = known ? action_.cache()->find(known->result.digest) : std::nullopt;
    const bool is_there = is_of_object(entry);
    if (action_.cache()) note_store_use(is_there, files_);
    action_.note_difference();
    if (!is_there) return false;
    DSBUILD_CHECK(files_.write_if_different(step_.output, entry->front().bytes));
    for (const Said& said : known->said)
      tools_.print(said.text);
    DSBUILD_CHECK(action_.write(*known, {step_.output}));
    return true;
  }

  // Takes the object of another op's compile, where that was given the same text and nothing else.
  Result<bool> take_by_text() {
    if (!step_.is_known_by_text || !action_.cache()) return false;
    const auto text = preprocessed_text(step_.command, system_);
    if (!text) return false;  // the compiler will say why
    text_key_ = action_.key_of_text(words_behind_preprocessor(without_outputs(step_.command)), *text);
    const auto entry = action_.cache()->find(text_key_);
    if (!is_of_object(entry)) return false;
    Record record = action_.describe(files_read());
    if (!action_.precompiled_headers(record).empty()) return false;
    record.result.digest = text_key_;
    if (entry->size() == 2) {
      add_said(record, k_compiler, entry->back().bytes);
      tools_.print(entry->back().bytes);
    }
    DSBUILD_CHECK(put_output(entry->front().bytes));
    DSBUILD_CHECK(action_.write(std::move(record), {step_.output}));
    return true;
  }

  void keep(Record& record, std::string bytes) const {
    record.result.digest =
        text_key_.empty() ? Key(record.key).add_bytes("object", bytes).digest() : text_key_;
    if (!action_.cache()) return;
    StoreEntry entry = {{k_object, std::move(bytes)}};
    if (!record.said.empty()) entry.push_back({k_said, record.said.front().text});
    action_.cache()->put(record.result.digest, entry);
  }

  // Large ones (a precompiled header) are moved, not written once more.
  Result<void> put_output(const std::string& bytes) {
    const std::string temporary = step_.output + k_temporary_end;
    const auto before = files_.read_file(step_.output);
    if (before && *before == bytes) return files_.remove_all(temporary);
    if (files_.kind(temporary) == FileKind::file) return files_.rename(temporary, step_.output);
    return files_.write_file(step_.output, bytes);
  }

  std::string depfile_of_assembler() const { return step_.output + k_assembler_depfile_end; }

  // A header that is precompiled is not assembled.
  bool is_assembled() const { return !is_link() && !has_word(step_.command, "c++-header"); }

  Words command() const {
    Words words = step_.command;
    if (is_assembled() && action_.assembler_tells())
      for (std::string& word : words_for_assembler(words, depfile_of_assembler()))
        words.push_back(std::move(word));
    return words;
  }

  Record describe(const std::string& bytes) {
    FilesRead read = files_read();
    const std::set<std::string> preprocessed(read.files.begin(), read.files.end());
    if (is_assembled()) add_files_of_assembler(depfile_of_assembler(), bytes, read, files_);
    // Of what the assembler read besides, the text says nothing: another op's folders may hold other files.
    for (const std::string& file : read.files)
      if (preprocessed.count(file) == 0) text_key_.clear();
    // What it makes is none of what it reads: the output, and what -flto links in its place.
    const std::string temporaries = variable(system_.environment, "TMPDIR") + "/";
    std::erase_if(read.files, [&](const std::string& file) {
      return file == step_.output + k_temporary_end || (temporaries != "/" && file.starts_with(temporaries));
    });
    std::sort(read.files.begin(), read.files.end());
    read.files.erase(std::unique(read.files.begin(), read.files.end()), read.files.end());
    Record record = action_.describe(read);
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

  const WholeStep& step_;
  ActionRun& action_;
  System& system_;
  FileSystem& files_;
  const WholeTools& tools_;
  std::string text_key_;  // in the cache; "" where the text is not known
};

// Whether too few of the header's users would be compiled for it to pay: the others are in the store.
bool is_spared(const WholeStep& header, System& system) {
  const auto text = system.files.read_file(header.output + k_users_end);
  if (!text) return false;
  const std::vector<std::string> lines = split_lines(*text);
  size_t still_needed = lines.empty() ? 0 : whole_number<size_t>(lines.front()).value_or(0);
  for (size_t i = 1; i < lines.size() && still_needed > 0; ++i) {
    const StepWords words = shell_split(lines[i]);
    if (!ActionRun(words, system).recall()) --still_needed;
  }
  return still_needed > 0;
}

}  // namespace

Result<StepEnd> run_whole_step(const WholeStep& step, ActionRun& action, System& system,
                               const WholeTools& tools) {
  WholeRun run(step, action, system, tools);
  const bool is_header = has_word(step.command, "c++-header");
  return is_header && is_spared(step, system) ? run.spare() : run.run();
}

}  // namespace dsbuild
