#include "exec/record_maker.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/build_layout.h"
#include "inputs/clock_words.h"
#include "inputs/path_origin.h"
#include "inputs/unnamed_files.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

std::string read_text(const Path& file, const FileReader& files) {
  const auto text = files.read_file(file);
  return text ? *text : "";
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

// That which the plan precompiles counts by what it was made of.
bool is_precompiled_by_build(const std::string& path) {
  return is_output(path) && is_precompiled_header(path);
}

// By which __TIMESTAMP__ is told.
constexpr const char* k_time_zone = "/etc/localtime";

// gcc's own, which it includes before all else: where it takes a precompiled one, no depfile names it.
constexpr const char* k_first_header = "stdc-predef.h";

// Headers that the command names, and the source, are looked for where they are; what is precompiled of them
// lies next to them.
void add_named_by_command(const std::vector<std::string>& command, std::set<std::string>& folders,
                          std::set<std::string>& names) {
  for (const std::string& header : forced_headers(command)) {
    folders.insert(parent_of(header));
    names.insert({header, name_of(header)});
  }
  names.insert(k_first_header);
}

// By macros, in texts and in the command.
class TimesRead {
 public:
  TimesRead(bool clock_is_pinned, const FileReader& files)
      : clock_is_pinned_(clock_is_pinned), files_(files) {}

  void add(const std::string& file, std::string_view text) {
    const bool reads_own = reads_time_of_file(text);
    // hipify writes its files in each build from scratch.
    const bool reads_build = (!clock_is_pinned_ && reads_clock(text)) || (reads_own && is_hipified(file));
    if (clock_.empty() && reads_build) clock_ = file;
    any_reads_own_ = any_reads_own_ || reads_own;
    if (reads_own || is_of_project(file)) of_files_.insert(file);
  }

  // A header's macro is expanded in any of the project's files.
  void describe(Record& record) const {
    record.clock = clock_;
    if (!any_reads_own_) return;
    for (const std::string& file : of_files_)
      record.file_times.push_back({file, mtime_in_seconds(file, files_).value_or(-1)});
  }

 private:
  bool clock_is_pinned_;
  const FileReader& files_;
  std::string clock_;
  bool any_reads_own_ = false;
  std::set<std::string> of_files_;
};

}  // namespace

RecordMaker::RecordMaker(const Key& key, bool clock_is_pinned, const RecordSources& sources)
    : key_(key),
      clock_is_pinned_(clock_is_pinned),
      files_(sources.files),
      digests_(sources.digests),
      lists_(sources.lists),
      staleness_(sources.judge),
      begin_ns_(file_clock_now()) {}

Record RecordMaker::make(const FilesRead& read) {
  Record record;
  record.key = key_;
  std::string others;
  if (!read.command.empty()) describe_names(read, record);
  std::vector<std::string> sorted = precompiled_headers(record);
  sorted.insert(sorted.end(), read.files.begin(), read.files.end());
  if (!record.file_times.empty() && files_.kind(k_time_zone) == FileKind::file) sorted.push_back(k_time_zone);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::string& path : sorted)
    if (!is_precompiled_by_build(path)) describe_file(path, record, others);
  record.others = lists_.put(others);
  describe_equal_files(read.files, record);
  digests_.save();
  return record;
}

void RecordMaker::describe_file(const std::string& path, Record& record, std::string& others) {
  const std::string digest = staleness_.digest(path);
  if (digest.empty() || (!is_of_build(path) && changed_since_begin(path))) record.unsettled = path;
  const bool can_be_listed = path.find('\n') == std::string::npos;
  if (is_of_project(path) || !can_be_listed)
    record.inputs.push_back({path, digest});
  else
    others += digest + " " + path + "\n";
}

// By the time that nothing sets. One in the future is of a clock that was set back: it tells nothing.
bool RecordMaker::changed_since_begin(const std::string& path) const {
  const auto identity = files_.identity(path);
  if (!identity) return true;
  return identity->ctime_ns >= begin_ns_ - k_file_clock_step_ns && identity->ctime_ns <= file_clock_now();
}

// Where a name may be found: beside each file that was read, in the command's folders, in the compiler's own.
void RecordMaker::add_folders(const FilesRead& read, std::set<std::string>& folders) const {
  for (const std::string& file : read.files)
    folders.insert(parent_of(file));
  for (std::string folder : search_folders(read.command)) {
    while (folder.size() > 1 && folder.ends_with('/'))
      folder.pop_back();
    folders.insert(folder);
  }
  const bool is_link = links(read.command);
  for (const std::string& folder : split_lines(read_text(k_tool_folders_file, files_)))
    if (folder.starts_with("-L") == is_link) folders.insert(is_link ? folder.substr(2) : folder);
  std::erase_if(folders, [](const std::string& folder) {
    return is_output(folder) || folder.find('\n') != std::string::npos;
  });
}

void RecordMaker::describe_names(const FilesRead& read, Record& record) {
  NameSearch search;
  std::set<std::string> folders;
  const std::set<std::string> read_files(read.files.begin(), read.files.end());
  search.names = library_names(read.command);
  const bool is_link = links(read.command);
  if (!is_link) add_named_by_command(read.command, folders, search.names);
  add_folders(read, folders);
  search.folders.assign(folders.begin(), folders.end());
  bool project_asks = false;
  TimesRead times(clock_is_pinned_, files_);
  for (const std::string& file : read.files) {
    if (is_output(file)) continue;
    // What the command itself names is not looked for.
    if (std::find(read.command.begin(), read.command.end(), file) == read.command.end())
      add_names_of(file, folders, search.names);
    if (is_link) continue;
    const std::string text = read_text(file, files_);
    times.add(file, text);
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
  const auto source =
      std::find_first_of(read.files.begin(), read.files.end(), read.command.begin(), read.command.end());
  if (!is_link && source != read.files.end()) times.add(*source, shell_join(read.command));
  times.describe(record);
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

std::vector<std::string> RecordMaker::present_files(const Record& record) {
  std::vector<std::string> paths;
  for (const std::string& line : split_lines(lists_.find(record.present).value_or("")))
    if (const PresentName name = parse_present(line); name.mark.empty()) paths.push_back(name.path());
  return paths;
}

std::vector<std::string> RecordMaker::precompiled_headers(const Record& record) {
  std::vector<std::string> paths = present_files(record);
  std::erase_if(paths, [](const std::string& path) { return !is_precompiled_header(path); });
  return paths;
}

void RecordMaker::describe_equal_files(std::vector<std::string> read, Record& record) {
  const std::set<std::string> read_files(read.begin(), read.end());
  for (const std::string& path : present_files(record))
    if (is_of_project(path) && read_files.count(path) == 0) read.push_back(path);
  std::map<std::string, std::string> by_digest;
  for (const std::string& file : read) {
    if (is_output(file)) continue;
    const auto [first, is_new] = by_digest.emplace(staleness_.digest(file), file);
    if (is_new) continue;
    const std::string text = read_text(file, files_);
    if (text.find("once") != std::string::npos || text.find("import") != std::string::npos)
      record.equal_files.push_back({first->second, file, have_same_time(first->second, file, files_)});
  }
}

}  // namespace dsbuild
