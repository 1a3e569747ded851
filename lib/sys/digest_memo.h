// Remembers digests of files on this machine. A digest is valid as long as the file's identity is unchanged
// (device, inode, size, mtime and ctime, which nothing can reset). A file that changed within the last tick
// of the file system's clock is read each time, because a further write in that tick would not change its
// identity. The memo has one small file for each folder on the disk. Its first line is the digest of the
// rest, so a damaged file counts as empty.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

// Whether remembered digests count, or each file is read each time (`--paranoid`). A write through a shared
// mapping need not change a file's identity (on tmpfs it never does; elsewhere not before the page is written
// to the disk).
enum class Trust { identities, nothing };
// Set for the steps of a build with --paranoid.
inline constexpr const char* k_paranoid_variable = "DSBUILD_PARANOID";
Trust trust_of(const Environment& environment);

class DigestMemo {
 public:
  DigestMemo(FileSystem& files, Path folder, Trust trust = Trust::identities)
      : files_(files), folder_(std::move(folder)), trust_(trust) {}

  // SHA-256 of the file's bytes, 64 hex digits; links are followed. Errors: those of reading.
  Result<std::string> digest(const Path& path);
  // Writes the new digests, and keeps those that other processes have written since. Digests that cannot be
  // written are computed again next time.
  void save();
  bool has_saved() const { return has_saved_; }  // whether this process has written any
  // Half-written files of processes that were killed. One that is just being written may be among them: then
  // what it was to say is found again.
  void remove_temporaries();

 private:
  struct Known {
    std::string identity, digest;
    bool is_new = false;
  };
  struct Shard {
    std::map<std::string, Known> by_name;
    bool has_new = false;
  };
  Path file_of(const Path& folder) const;
  Shard& shard_of(const std::string& named);
  void read_shard(const Path& file, Shard& shard) const;

  FileSystem& files_;
  Path folder_;
  Trust trust_;
  std::map<Path, Shard> shards_;  // by absolute folder
  // The same by the folder's name as callers write it. Where the current folder has changed since, a file's
  // identity does not fit.
  std::unordered_map<std::string, Shard*> by_named_folder_;
  bool has_saved_ = false;
};

}  // namespace dsbuild
