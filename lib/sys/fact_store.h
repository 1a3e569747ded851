// Facts that cost a process start or the reading of a file (a compiler's version, a digest), remembered as
// long as their basis is unchanged. One JSON file: {"digest":"<sha256 of all text after it>",
// "facts":{"<key>":{"identity":"<text>","value":"<text>"}},"schema":3}. A damaged or foreign file counts as
// empty: a flipped bit in a value would get into manifests. Saved only when something changed, whole or not
// at all. Files count by their identities there, which are cheap and of this machine; a second level
// (SharedFacts) knows the same facts by the files' contents.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// The basis of a fact: the fact is true wherever the text and the files are the same.
struct FactBasis {
  std::string text{};
  std::vector<Path> files{};   // absolute; folders count by the names in them, absent files as absent
  bool is_of_machine = false;  // it may be false on a different machine with the same text and files
};
// The basis as a text for this machine, with the identities of its files; without files, `text` itself.
std::string identity_here(const FactBasis& basis, const FileReader& files);

// Facts under keys of file contents, for any machine.
class SharedFacts {
 public:
  virtual ~SharedFacts() = default;
  virtual std::optional<std::string> find(const std::string& key, const FactBasis& basis) = 0;
  virtual void put(const std::string& key, const FactBasis& basis, const std::string& value) = 0;
};

class FactStore {
 public:
  FactStore(FileSystem& files, Path file);  // reads the file if it is there
  // From now on, facts are also looked up and stored in `shared`, which must outlive this.
  void share_with(SharedFacts& shared) { shared_ = &shared; }

  // From now on, facts that are found here are stored there, too.
  void share_known() { shares_known_ = true; }

  // The value stored under `key` with exactly this identity. Such a fact stays on this machine.
  std::optional<std::string> find(const std::string& key, const std::string& identity) const;
  void put(const std::string& key, const std::string& identity, const std::string& value);
  // The same by a basis. Copies a fact that only the shared store has into this one.
  std::optional<std::string> find(const std::string& key, const FactBasis& basis);
  void put(const std::string& key, const FactBasis& basis, const std::string& value);
  // Finds the files that a value names, on which the fact depends, too.
  using NamedFiles = std::function<std::vector<Path>(const std::string& value)>;
  std::optional<std::string> find(const std::string& key, const FactBasis& basis, const NamedFiles& named);
  void put(const std::string& key, const FactBasis& basis, const NamedFiles& named, const std::string& value);

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
  SharedFacts* shared_ = nullptr;
  bool shares_known_ = false;
  std::map<std::string, Fact> facts_;
  bool changed_ = false;
  bool forgot_ = false;
};

}  // namespace dsbuild
