// A shared cache in one file, for a machine without a network, or for a CI service that caches files. A tar
// (remote/tar.h) of the files that a file:// folder has (ac/<2 hex digits>/<62>, cas/… alike) and, as its
// last, "keys":
//   dsbuild-archive 1
//   scope <scope>
//   result <key>        or "records <key>", a line for each entry
// for an entry's name does not tell its key.
#pragma once

#include <memory>
#include <vector>

#include "cache/upstream.h"
#include "remote/remote_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// Written by its puts, each name once, to <file>.part. finish() makes it <file>; without, nothing stays.
class ArchiveWriter : public RemoteStore {
 public:
  bool takes_contents() const override { return false; }  // its reader looks for each file
  // Whatever is at <file>.part goes. Error: of removing that.
  virtual Result<void> finish(const std::string& scope, const std::vector<UpstreamItem>& items) = 0;
};
Result<std::shared_ptr<ArchiveWriter>> make_archive(FileSystem& files, const Path& file);

struct Archive {
  std::shared_ptr<RemoteStore> store;  // to be read alone
  std::string scope;
  std::vector<UpstreamItem> items;
};
// All of it is read and checked now: headers and names of members, the digest of each file, and that each
// entry is one whose files are there. Errors: those of reading; exit 1, code `bad_cache_archive`, where
// anything is otherwise: a link, a name that leads out, a size beyond the file's end, a member that is there
// twice, no end.
Result<Archive> open_archive(FileSystem& files, const Path& file);

}  // namespace dsbuild
