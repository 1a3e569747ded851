#include "action/action_run.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/digest.h"
#include "inputs/layout.h"
#include "inputs/unnamed_files.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

std::string text_of(const Path& file, const FileReader& files) {
  const auto text = files.read_file(file);
  return text ? *text : "";
}

Path folder_named_by(const char* file, const FileReader& files) {
  return trim(text_of(file, files));
}

// Thousands of paths in each step: without std::filesystem, which takes each apart. "" of what has none.
std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  const size_t end = path.find_last_not_of('/', slash);
  return end == std::string::npos ? "/" : path.substr(0, end + 1);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// The names under which a file may have been looked for: what follows one of the folders in its path.
void add_names_of(const std::string& file, const std::set<std::string>& folders,
                  std::set<std::string>& names) {
  for (std::string folder = parent_of(file); !folder.empty() && folder != "/"; folder = parent_of(folder))
    if (folders.count(folder) > 0) names.insert(file.substr(folder.size() + 1));
  names.insert(name_of(file));
}

// Not a compile, nor a preprocessor.
bool links(const std::vector<std::string>& command) {
  return std::none_of(command.begin(), command.end(),
                      [](const std::string& word) { return word == "-c" || word == "-E"; });
}

// Of the build, and no copy of the project's files: nothing is looked for there.
bool is_output(const std::string& path) {
  return is_of_build(path) && !is_hipified(path);
}

// Precompiled headers count by what they were made of.
bool is_precompiled(const std::string& path) {
  return path.ends_with(".gch");
}

}  // namespace

std::optional<ContentStore> store_of_build(FileSystem& files) {
  const Path folder = folder_named_by(k_store_file, files);
  if (folder.empty()) return std::nullopt;
  return ContentStore(files, folder);
}

ActionRun::ActionRun(const StepWords& words, System& system, Cache cache)
    : files_(system.files),
      begin_ns_(file_clock_now()),
      tools_file_(tools_file_of(words)),
      output_(output_of(words)),
      cache_(cache == Cache::used ? store_of_build(files_) : std::nullopt),
      digests_(files_, folder_named_by(k_digests_file, files_)),
      lists_(files_, "", cache_),
      key_(action_key({words, files_.absolute(".").string(),
                       [this](const std::string& path) -> std::optional<std::string> {
                         auto text = files_.read_file(path);
                         return text ? std::optional(std::move(*text)) : std::nullopt;
                       }},
                      lists_)),
      judge_("", files_, digests_, lists_) {
  const auto made = files_.read_file(record_file(output_));
  const auto text = made ? made : files_.read_file(old_record_file(output_));
  if (text) last_ = parse_record(*text);
}

bool ActionRun::holds() {
  return last_ && files_.kind(record_file(output_)) == FileKind::file &&
         !judge_.first_difference(*last_, key_) && !judge_.first_changed_output(*last_);
}

void ActionRun::begin() {
  if (files_.kind(record_file(output_)) == FileKind::file)
    (void)files_.rename(record_file(output_), old_record_file(output_));
}

bool ActionRun::has_outputs_of(const std::optional<Record>& record) {
  return record && !record->outputs.empty() && !judge_.first_changed_output(*record);
}

std::optional<Record> ActionRun::recall() {
  return find_in_cache(key_.digest(), Command::same);
}

void ActionRun::note_difference() {
  if (difference_ && !last_) note_store_difference(difference_->text(), files_);
}

std::optional<Record> ActionRun::recall_of_text(const std::string& given,
                                                const std::vector<std::string>& text) {
  if (last_ && last_->given == given) {
    Record last = *last_;
    std::erase_if(last.inputs, [&](const FileDigest& input) {
      return std::find(text.begin(), text.end(), input.path) != text.end();
    });
    if (!judge_.first_difference(last, key_)) return last;
  }
  return find_in_cache(key_of_text({}, given), Command::any);
}

void ActionRun::keep_of_text(Record record) {
  record.key = key_;
  keep(key_of_text({}, record.given), record);
}

bool ActionRun::assembler_tells() {
  const std::vector<std::string> telling = split_lines(text_of(k_assemblers_file, files_));
  return std::find(telling.begin(), telling.end(), tools_file_) != telling.end();
}

std::string ActionRun::key_of_text(const std::vector<std::string>& command, std::string_view text) const {
  return key_.with(k_command_part, shell_join(command)).add_bytes("text", text).digest();
}

std::optional<Record> ActionRun::find_in_cache(const std::string& key, Command command) {
  difference_ = std::nullopt;
  if (!cache_) return std::nullopt;
  std::optional<Change> newest;
  for (const std::string& text : cache_->find_records(key)) {
    auto record = parse_record(text);
    if (!record) continue;
    auto difference = judge_.first_difference(*record, command == Command::same ? key_ : record->key);
    if (!difference) return record;
    if (!newest) newest = std::move(difference);
  }
  difference_ = std::move(newest);
  return std::nullopt;
}

Record ActionRun::describe(const FilesRead& read) {
  Record record;
  record.key = key_;
  std::string others;
  std::vector<std::string> sorted = read.files;
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& path : sorted)
    if (!is_precompiled(path)) describe_file(path, record, others);
  record.others = lists_.put(others);
  if (!read.command.empty()) describe_names(read, record);
  describe_equal_files(read.files, record);
  digests_.save();
  return record;
}

void ActionRun::describe_file(const std::string& path, Record& record, std::string& others) {
  const std::string digest = judge_.digest(path);
  if (digest.empty() || (!is_of_build(path) && changed_since_begin(path))) record.unsettled = path;
  const bool can_be_listed = path.find('\n') == std::string::npos;
  if (is_of_project(path) || !can_be_listed)
    record.inputs.push_back({path, digest});
  else
    others += digest + " " + path + "\n";
}

// By the time that nothing sets. One in the future is of a clock that was set back: it tells nothing.
bool ActionRun::changed_since_begin(const std::string& path) const {
  const auto identity = files_.identity(path);
  if (!identity) return true;
  return identity->ctime_ns >= begin_ns_ - k_file_clock_step_ns && identity->ctime_ns <= file_clock_now();
}

// Where a name may be found: beside each file that was read, in the command's folders, in the compiler's own.
std::vector<std::string> ActionRun::folders_of(const FilesRead& read) const {
  std::set<std::string> folders;
  for (const std::string& file : read.files)
    folders.insert(parent_of(file));
  for (std::string folder : search_folders(read.command)) {
    while (folder.size() > 1 && folder.ends_with('/'))
      folder.pop_back();
    folders.insert(folder);
  }
  const bool is_link = links(read.command);
  for (const std::string& folder : split_lines(text_of(k_tool_folders_file, files_)))
    if (folder.starts_with("-L") == is_link) folders.insert(is_link ? folder.substr(2) : folder);
  std::erase_if(folders, [](const std::string& folder) {
    return is_output(folder) || folder.find('\n') != std::string::npos;
  });
  return {folders.begin(), folders.end()};
}

void ActionRun::describe_names(const FilesRead& read, Record& record) {
  NameSearch search;
  search.folders = folders_of(read);
  const std::set<std::string> folders(search.folders.begin(), search.folders.end());
  const std::set<std::string> read_files(read.files.begin(), read.files.end());
  search.names = library_names(read.command);
  const bool is_link = links(read.command);
  bool project_asks = false;
  for (const std::string& file : read.files) {
    if (is_output(file)) continue;
    // What the command itself names is not looked for.
    if (std::find(read.command.begin(), read.command.end(), file) == read.command.end())
      add_names_of(file, folders, search.names);
    if (is_link) continue;
    const std::string text = text_of(file, files_);
    LookedFor looked_for = names_looked_for(text);
    if (is_of_project(file)) {
      if (record.incomplete.empty() &&
          (may_embed_files(text) || (read.by_silent_assembler && may_read_in_assembler(text))))
        record.incomplete = file;
      search.all = search.all || looked_for.is_computed;
      project_asks = project_asks || looked_for.asks;
    } else if (!looked_for.asks) {
      continue;
    }
    search.names.merge(looked_for.names);
  }
  record.search = lists_.put(render_search(search));
  const std::string present = FolderNames("", files_).present(search);
  record.present = lists_.put(present);
  for (const std::string& path : present_files(record))
    if (read_files.count(path) == 0 && !is_of_build(path) && changed_since_begin(path))
      record.unsettled = path;
  for (const std::string& folder : search.folders)
    if (project_asks && is_of_project(folder) && !is_of_build(folder) && files_.identity(folder) &&
        changed_since_begin(folder))
      record.unsettled = folder;
}

std::vector<std::string> ActionRun::present_files(const Record& record) {
  std::vector<std::string> paths;
  for (const std::string& line : split_lines(lists_.find(record.present).value_or("")))
    paths.push_back(path_in(line.substr(0, line.find('\t')), line.substr(line.find('\t') + 1)));
  return paths;
}

void ActionRun::describe_equal_files(std::vector<std::string> read, Record& record) {
  const std::set<std::string> read_files(read.begin(), read.end());
  for (const std::string& path : present_files(record))
    if (is_of_project(path) && read_files.count(path) == 0) read.push_back(path);
  std::map<std::string, std::string> by_digest;
  for (const std::string& file : read) {
    if (is_output(file)) continue;
    const auto [first, is_new] = by_digest.emplace(judge_.digest(file), file);
    if (is_new) continue;
    const std::string text = text_of(file, files_);
    if (text.find("once") != std::string::npos || text.find("import") != std::string::npos)
      record.equal_files.push_back({first->second, file, have_same_time(first->second, file, files_)});
  }
}

Result<void> ActionRun::write(Record record, const std::vector<std::string>& outputs) {
  record.key = key_;
  record.outputs.clear();
  for (const std::string& output : outputs) {
    DSBUILD_TRY(digest, digests_.digest(output));
    record.outputs.push_back({output, digest});
  }
  keep(key_.digest(), record);
  DSBUILD_CHECK(files_.write_file(record_file(output_), render_record(record)));
  (void)files_.remove_all(old_record_file(output_));
  last_ = std::move(record);
  return {};
}

void ActionRun::keep(const std::string& key, const Record& record) {
  if (!cache_ || !record.unsettled.empty() || !record.incomplete.empty() || record.result.empty()) return;
  cache_->put_record(key, render_record(record));
}

}  // namespace dsbuild
