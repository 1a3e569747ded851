// Watches folders by inotify for files that are written, made, renamed or removed. It also sees an editor
// that renames a new file over the old one, because it watches the folder.
#pragma once

#include <map>
#include <set>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dsbuild {

class FolderWatch {
 public:
  // Error: exit 3 `limit_too_low` if this user has too many watches.
  static Result<FolderWatch> open();

  // Watches these folders only, from now on. Ignores absent ones. Loses no change in a folder that it already
  // watched. Error: that of open().
  Result<void> watch(const std::set<Path>& folders);

  // Waits for changes, up to this time. Returns the paths that changed; empty: none did.
  std::set<Path> changed(int milliseconds);

 private:
  explicit FolderWatch(Descriptor queue) : queue_(std::move(queue)) {}

  Descriptor queue_;
  std::map<int, Path> folders_;  // by inotify's number
};

}  // namespace dsbuild
