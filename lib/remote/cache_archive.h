// A shared cache in one file, for a machine without a network, or for a CI service that caches files. It is a
// tar (remote/tar.h) of the files of a file:// folder (ac/<2 hex digits>/<62>, cas/… likewise). Its last
// member is "keys":
//   dsbuild-archive 1
//   scope <scope>
//   result <key>        or "records <key>", a line for each entry
// The keys are there because an entry's name does not tell its key.
#pragma once

#include <memory>
#include <vector>

#include "cache/upstream.h"
#include "remote/remote_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// put() writes each name once, to <file>.part. finish() renames that to <file>; without it, no file remains.
class ArchiveWriter : public RemoteStore {
 public:
  // open_archive requires each file of an entry as a member.
  bool takes_contents() const override { return false; }
  // Removes whatever is at <file>.part. Error: that of this removal.
  virtual Result<void> finish(const std::string& scope, const std::vector<UpstreamItem>& items) = 0;
};
Result<std::shared_ptr<ArchiveWriter>> make_archive(FileSystem& files, const Path& file);

struct Archive {
  std::shared_ptr<RemoteStore> store;  // read-only
  std::string scope;
  std::vector<UpstreamItem> items;
};
// Reads and checks all of it: headers and names of members, the digest of each file, and that the files of
// each entry are there. Errors: those of reading; exit 1 `bad_cache_archive` if the archive is malformed: a
// link, a name that leads out, a size beyond the file's end, a member that is there twice, no end.
Result<Archive> open_archive(FileSystem& files, const Path& file);

}  // namespace dsbuild
