// What changes in folders, by inotify: files are written, made, renamed and removed there. An editor that
// writes a new file and renames it over the old one is seen, for it is the folder that is watched.
#pragma once

#include <map>
#include <set>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dsbuild {

class FolderWatch {
 public:
  // Error: exit 3 `limit_too_low`, where this user watches too much already.
  static Result<FolderWatch> open();

  // From now on these, and no others; a folder that is not there is left out. A change in a folder that stays
  // watched is not lost. Error: as of open().
  Result<void> watch(const std::set<Path>& folders);

  // The paths that changed, of each folder the name in it; waits for so long at most. Empty: none did.
  std::set<Path> changed(int milliseconds);

 private:
  explicit FolderWatch(Descriptor queue) : queue_(std::move(queue)) {}

  Descriptor queue_;
  std::map<int, Path> folders_;  // by inotify's number
};

}  // namespace dsbuild
