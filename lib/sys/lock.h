// One kernel lock (flock) per folder. Source of the rules: flock(2); Nix and Cargo use it the same
// way. Ninja is started with the descriptor in `inherited`, so the lock lives as long as Ninja and its steps,
// even when dsbuild is killed. Processes that steps start do not get it, for a compiler may leave a server
// running; they get a signal when their step dies. No other child gets it. The file holds "pid command line"
// of its holder, for the message of those who wait. A process that removes the folder holds the lock, and
// removes the file after all else in it (remove_locked_folder). A process that waits for a file that is no
// longer there starts over.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sys/file_system.h"

namespace dsbuild {

class FolderLock {
 public:
  virtual ~FolderLock() = default;
  virtual int descriptor() const = 0;  // to be inherited by child processes
  // Writes lines for waiting processes into the lock file, after the holder's line. They replace earlier
  // ones, and have at most k_most_told bytes.
  virtual void tell(const std::string& lines) const = 0;
};

inline constexpr size_t k_most_told = 1024;

// Waits until the lock on `file` is free. Its folder is made, again where another process removes it
// meanwhile. `on_wait(holder)` is called once if it is not free at once, with the holder's "pid command".
// Errors: exit 75 `locked` after `timeout` (nullopt: wait for ever); exit 1 `io` when the file cannot be
// made; exit 3 `lock_unsupported` on NFS.
Result<std::unique_ptr<FolderLock>> take_lock(const Path& file, const std::string& command_line,
                                              std::optional<std::chrono::seconds> timeout,
                                              const std::function<void(const std::string&)>& on_wait);

// The same, but makes no folder. nullptr: there is no folder, or it was removed during the wait.
Result<std::unique_ptr<FolderLock>> take_lock_if_there(
    const Path& file, const std::string& command_line, std::optional<std::chrono::seconds> timeout,
    const std::function<void(const std::string&)>& on_wait);

// Waits until the lock is free and takes it. Calls `goes_on` every 50 ms with the file's text (the holder's
// "pid command line" and its lines), because the waiting process may get its result by other means. nullptr:
// `goes_on` returned false. Errors: exit 1 `io`; exit 3 `lock_unsupported`.
Result<std::unique_ptr<FolderLock>> take_lock_while(const Path& file, const std::string& command_line,
                                                    const std::function<bool(const std::string&)>& goes_on);

// Removes the folder of a lock file, whose lock is held, and all that is in it. The name `last` goes after
// the others, and the lock file at the end, so that nobody works in a folder that is still being removed.
// Files that other processes make in it after that stay.
Result<void> remove_locked_folder(const Path& file, const std::string& last);

}  // namespace dsbuild
