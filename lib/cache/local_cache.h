// A cache in a folder, shared by all build folders and by builds that run at the same time. One file for each
// entry: <folder>/ac/<2 hex digits>/<62 hex digits> for a result, <folder>/cas/… for a blob. Each file
// appears whole or not at all. It begins with a digest of its other bytes, so a damaged file counts as
// absent. An entry was last used at its file's mtime. No process waits for a different one. Only for this
// stage, and for lib/remote, whose folders have the same files without the digests.
#pragma once

#include "cache/action_cache.h"
#include "sys/file_system.h"

namespace dsbuild {

// A cache's folder. Its marker file (CACHEDIR.TAG) says that dsbuild made it; without the marker, nothing is
// written or removed there.
class LocalFolder {
 public:
  LocalFolder(FileSystem& files, Path path) : files_(files), path_(std::move(path)) {}
  const Path& path() const { return path_; }
  bool is_ours() const;
  bool make_ours() const;
  // Error: exit 2 `foreign_cache_dir` if the folder has files and is no cache.
  Result<void> check() const;

  // The file's text; nullopt if it cannot be read or is a link. Marks the file as used.
  std::optional<std::string> read(const Path& file) const;
  bool write(const Path& file, const std::string& text) const;
  bool has(const Path& file) const;
  void remove(const Path& file) const { (void)files_.remove_all(file); }

 private:
  void mark_as_used(const Path& file) const;

  FileSystem& files_;
  Path path_;
};

class LocalActionCache : public ActionCache {
 public:
  explicit LocalActionCache(const LocalFolder& folder) : folder_(folder) {}
  std::vector<std::optional<ActionResult>> find(const std::vector<std::string>& keys) const override;
  std::vector<bool> has(const std::vector<std::string>& keys) const override;
  void put(const std::string& key, const ActionResult& result) const override;
  void forget(const std::string& key) const override;

 private:
  LocalFolder folder_;
};

class LocalBlobStore : public BlobStore {
 public:
  explicit LocalBlobStore(const LocalFolder& folder) : folder_(folder) {}
  std::vector<std::optional<std::string>> find(const std::vector<std::string>& digests) const override;
  std::vector<bool> has(const std::vector<std::string>& digests) const override;
  bool put(const std::string& digest, std::string_view bytes) const override;

 private:
  LocalFolder folder_;
};

}  // namespace dsbuild
