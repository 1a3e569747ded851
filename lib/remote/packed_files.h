// Compresses files for transfer ("packs"), with similar files as dictionary where that helps. The PTX of a
// source for four archs differs in one line, and a library has the images of its objects. Private to this
// stage.
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

// Packs the files that one build uploads. Only files of the same build serve as dictionary ("bases"): a store
// that removes old files then removes them together.
class FilePacker {
 public:
  // `contents`: whether an entry contains its small files.
  FilePacker(const BlobStore& here, bool contents) : here_(here), contents_(contents) {}

  enum class Bases { any, none };
  struct Packed {
    RemoteOutput output;  // without a name
    std::string bytes;    // to upload; "": they are in the entry
  };
  bool knows(const std::string& digest) const { return files_.contains(digest); }
  // From now on, this file may be a base. nullopt: a base is gone from the local cache, or there is no
  // memory.
  std::optional<Packed> pack(const std::string& digest, const std::string& bytes, Bases bases);
  // Notes whether the upload succeeded.
  void end_put(const std::string& digest, bool is_there);
  // The outputs of these files, followed by their bases. nullopt: one was not uploaded.
  std::optional<RemoteEntry> entry_of(const std::vector<CachedFile>& files) const;

 private:
  struct Known {
    RemoteOutput output;
    size_t depth = 0;  // of its chain of bases
    bool is_there = false;
  };
  std::vector<std::string> bases_of(const std::string& bytes, const Features& features) const;

  const BlobStore& here_;
  const bool contents_;
  std::map<std::string, Known> files_;  // by digest
  SimilarFiles similar_;
};

// The other direction: unpacks files of entries into `here`.
class FileUnpacker {
 public:
  explicit FileUnpacker(const BlobStore& here) : here_(here) {}

  void add(const RemoteEntry& entry);
  // The outputs to download for the files that are not here.
  std::vector<RemoteOutput> missing();
  void take(const RemoteOutput& output, std::string packed) {
    packed_[output.file.digest] = std::move(packed);
  }
  // Returns the digests of those files of the entries that are here now.
  std::set<std::string> unpack();
  // Digests of taken files whose bytes are not those of their entry.
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
  std::set<std::string> targets_;                // digests of outputs, without those that are only bases
  std::map<std::string, bool> is_here_;
  std::map<std::string, std::string> packed_;
  std::set<std::string> bases_;                    // digests of files that are bases
  std::map<std::string, std::string> kept_bases_;  // their bytes, because several files may have one base
  size_t kept_bytes_ = 0;
  std::set<std::string> damaged_;
};

}  // namespace dsbuild
