// How files travel: packed, where it helps together with files that are there already. The PTX of a source
// for four archs differs in one line, and a library has the images of its objects. Private to this stage.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cache/action_cache.h"
#include "remote/action_result.h"
#include "remote/similar_files.h"

namespace dsbuild {

// The files that one build has taken there. Files are packed with those of this build alone: who empties the
// store by age loses them together.
class FilePacker {
 public:
  // `contents`: whether small files go into their entry.
  FilePacker(const BlobStore& here, bool contents) : here_(here), contents_(contents) {}

  enum class Bases { any, none };
  struct Packed {
    RemoteOutput output;  // without a name
    std::string bytes;    // to be put there; "": they are in the entry
  };
  bool knows(const std::string& digest) const { return files_.contains(digest); }
  // From now on others may be packed with it. nullopt: there is no memory for it.
  std::optional<Packed> pack(const std::string& digest, const std::string& bytes, Bases bases);
  // Whether it got there.
  void end_put(const std::string& digest, bool is_there);
  // Outputs of these files, and after them what they are packed with. nullopt: one is not there.
  std::optional<RemoteEntry> entry_of(const std::vector<CachedFile>& files) const;

 private:
  struct Known {
    RemoteOutput output;
    size_t depth = 0;  // of bases of bases
    bool is_there = false;
  };
  std::vector<std::string> bases_of(const std::string& bytes, const Features& features) const;

  const BlobStore& here_;
  const bool contents_;
  std::map<std::string, Known> files_;  // by digest
  SimilarFiles similar_;
};

// The other side: brings files of entries into `here`.
class FileUnpacker {
 public:
  explicit FileUnpacker(const BlobStore& here) : here_(here) {}

  void add(const RemoteEntry& entry);
  // The outputs to fetch for all files that are not here.
  std::vector<RemoteOutput> missing();
  void take(const RemoteOutput& output, std::string packed) {
    packed_[output.file.digest] = std::move(packed);
  }
  // Which of the entries' files are here now, by their digests.
  std::set<std::string> unpack();
  // Which of those that were taken are not what their entry says.
  const std::set<std::string>& damaged() const { return damaged_; }

 private:
  bool is_here(const std::string& digest);
  bool want(const std::string& digest, size_t depth, std::set<std::string>& wanted);
  bool unpack(const std::string& digest, size_t depth);
  std::optional<std::string> prefix_of(const RemoteOutput& output, size_t depth);
  std::optional<std::string> bytes_of_base(const std::string& digest);
  void keep_base(const std::string& digest, const std::string& bytes);

  const BlobStore& here_;
  std::map<std::string, RemoteOutput> outputs_;  // by digest
  std::set<std::string> targets_;                // of them, without those that are only bases
  std::map<std::string, bool> is_here_;
  std::map<std::string, std::string> packed_;
  std::set<std::string> bases_;                    // what others are packed with
  std::map<std::string, std::string> kept_bases_;  // their bytes, for several files have one base
  size_t kept_bytes_ = 0;
  std::set<std::string> damaged_;
};

}  // namespace dsbuild
