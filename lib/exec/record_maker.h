// Makes the record of an action whose tools have run.
#pragma once

#include <set>

#include "exec/staleness.h"

namespace dsbuild {

// The files that tools read, by their names in depfiles.
struct FilesRead {
  std::vector<std::string> files;
  // Its -I and the like name the folders that are searched; empty: no folder is searched.
  std::vector<std::string> command;
  bool by_silent_assembler = false;  // an assembler ran without listing the files that it read
};

struct RecordSources {
  FileSystem& files;
  DigestMemo& digests;
  Lists& lists;
  Staleness& judge;
};

class RecordMaker {
 public:
  // Construct it before tools run: a file that changes later makes the record unsettled. `clock_is_pinned`:
  // SOURCE_DATE_EPOCH decides __DATE__.
  RecordMaker(const Key& key, bool clock_is_pinned, const RecordSources& sources);

  // The record has no outputs, no result key and no tool output yet. It is incomplete if a file of the
  // project makes tools read files that no compiler names.
  Record make(const FilesRead& read);
  // The precompiled headers that a compiler may have used in place of a header. If there are any, the
  // preprocessed text does not decide the object, because the preprocessor ignores them.
  std::vector<std::string> precompiled_headers(const Record& record);

 private:
  void describe_file(const std::string& path, Record& record, std::string& others);
  void describe_names(const FilesRead& read, Record& record);
  void describe_equal_files(std::vector<std::string> read, Record& record);
  std::vector<std::string> present_files(const Record& record);
  bool changed_since_begin(const std::string& path) const;
  void add_folders(const FilesRead& read, std::set<std::string>& folders) const;

  const Key& key_;
  const bool clock_is_pinned_;
  FileSystem& files_;
  DigestMemo& digests_;
  Lists& lists_;
  Staleness& staleness_;
  const int64_t begin_ns_;
};

}  // namespace dsbuild
