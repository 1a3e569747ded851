// Facts that cost a process start or the reading of a file (a compiler's version, a digest),
// remembered for as long as the files they came from are unchanged. One JSON file:
// {"schema":2,"digest":"<sha256 of facts>","facts":{"<key>":{"identity":"<text>","value":"<text>"}}}. A
// damaged or foreign file counts as empty: a flipped bit in a value would get into manifests. Saved only when
// something changed, whole or not at all.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sys/file_system.h"

namespace dsbuild {

class FactStore {
 public:
  FactStore(FileSystem& files, Path file);  // reads the file if it is there
  // The value stored under `key` with exactly this identity.
  std::optional<std::string> find(const std::string& key, const std::string& identity) const;
  void put(const std::string& key, const std::string& identity, const std::string& value);
  // Of more than `most` facts those stay that this process has asked for or put: the others cost what they
  // did at first. For the end of a run, when all that it needs was asked for.
  void forget_unused(size_t most = 20'000);
  // Writes if changed, with what other processes have put since the file was read; a folder that cannot be
  // written is not an error (facts are found again).
  void save();

 private:
  struct Fact {
    std::string identity;
    std::string value;
    mutable bool used = false;  // by this process
    bool put = false;           // by it
  };
  void take_facts_of_file();

  FileSystem& files_;
  Path file_;
  std::map<std::string, Fact> facts_;
  bool changed_ = false;
  bool forgot_ = false;
};

}  // namespace dsbuild
