// Compares records with the disk. No other code decides whether an output is still up to date.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "exec/lists.h"
#include "exec/record.h"
#include "inputs/include_search.h"
#include "sys/digest_memo.h"

namespace dsbuild {

// A difference from a record, in the user's words.
struct Change {
  std::string what;         // "file", "tool", "command", "option", "name", "output", "record"
  std::string path;         // of the file or folder; "" where there is none
  std::string before, now;  // the words or digests that differ; "" for what is not there
  std::string text() const;
  std::string where() const;  // the path as the user knows it
  bool operator==(const Change&) const = default;
};

// Looks at each file, list and folder once, so each look at the disk needs a new Staleness. `root` is the
// build folder.
class Staleness {
 public:
  Staleness(Path root, FileSystem& files, DigestMemo& digests, Lists& lists)
      : root_(std::move(root)), files_(files), digests_(digests), lists_(lists), names_(root_, files) {}

  // The first difference of the record from `key` and from the inputs on the disk; nullopt: up to date.
  // Ignores outputs.
  std::optional<Change> find_staleness(const Record& record, const Key& key);
  // The first output whose digest differs from the record.
  std::optional<Change> first_changed_output(const Record& record);
  // The digest of a file; "" if it cannot be read.
  std::string digest(const std::string& path);
  // From now on, takes this digest for the file's, whatever is on the disk: an earlier action will make it.
  void foresee(const FileDigest& file) { known_digests_[file.path] = file.digest; }

 private:
  std::optional<Change> compare_keys(const Key& before, const Key& now);
  std::optional<Change> compare_files(const std::vector<FileDigest>& files, const char* what);
  std::optional<Change> compare_others(const std::string& list);
  std::optional<Change> compare_names(const Record& record);
  std::optional<Change> compare_times(const std::vector<EqualFiles>& files);
  std::optional<Change> compare_file_times(const std::vector<FileTime>& times);
  Change compare_tools(const std::string& before, const std::string& now);
  Change compare_commands(const std::string& before, const std::string& now);
  std::string with_step_file(const std::string& command);

  Path root_;
  FileSystem& files_;
  DigestMemo& digests_;
  Lists& lists_;
  FolderNames names_;
  std::map<std::string, std::string> known_digests_;  // by path
  std::map<std::string, std::optional<Change>> known_lists_;
  std::map<std::string, std::string> known_names_;  // the names that exist, by the name of the search list
};

// nullopt if the file does not exist.
std::optional<int64_t> mtime_in_seconds(const Path& file, const FileReader& files);
// Whether two files have the same time, to the second.
bool have_same_time(const Path& first, const Path& second, const FileReader& files);

}  // namespace dsbuild
