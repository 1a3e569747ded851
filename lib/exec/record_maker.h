// Makes the record of an action whose tools have run.
#pragma once

#include <set>

#include "exec/staleness.h"

namespace dsbuild {

// What tools read, as depfiles name it.
struct FilesRead {
  std::vector<std::string> files;
  std::vector<std::string> command;  // its -I and the like say where names are looked for; empty: none are
  bool by_silent_assembler = false;  // one ran, and did not say what it read
};

struct RecordSources {
  FileSystem& files;
  DigestMemo& digests;
  Lists& lists;
  Staleness& judge;
};

class RecordMaker {
 public:
  // To be constructed before tools run: a file that changes from then on leaves its record unsettled.
  // `clock_is_pinned`: SOURCE_DATE_EPOCH is what __DATE__ says.
  RecordMaker(const Key& key, bool clock_is_pinned, const RecordSources& sources);

  // Outputs, the result's key and what tools said are not in it yet. A file of the project that names files
  // which no compiler tells of leaves it incomplete.
  Record make(const FilesRead& read);
  // Those that a compiler may have taken in place of a header: a text that is preprocessed without them does
  // not tell what it makes.
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
