#include "sys/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace dsbuild {
namespace {

constexpr uint32_t k_changes = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                               IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

tl::unexpected<Error> too_many(int error_number) {
  return fail(Exit::unmet, "limit_too_low", "inotify",
              "no more folders can be watched: " + system_reason(error_number),
              "Raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024.");
}

}  // namespace

Result<FolderWatch> FolderWatch::open() {
  Descriptor queue(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!queue.is_open()) return too_many(errno);
  return FolderWatch(std::move(queue));
}

Result<void> FolderWatch::watch(const std::set<Path>& folders) {
  std::map<int, Path> watched;
  for (const Path& folder : folders) {
    // A folder that is watched keeps its number, and what is in the queue of it.
    const int number = ::inotify_add_watch(queue_.number(), folder.c_str(), k_changes);
    if (number >= 0) watched[number] = folder;
    if (number < 0 && (errno == ENOSPC || errno == ENOMEM)) return too_many(errno);
  }
  for (const auto& [number, folder] : folders_)
    if (watched.count(number) == 0) ::inotify_rm_watch(queue_.number(), number);
  folders_ = std::move(watched);
  return {};
}

std::set<Path> FolderWatch::changed(int milliseconds) {
  std::set<Path> paths;
  pollfd wait{queue_.number(), POLLIN, 0};
  if (::poll(&wait, 1, milliseconds) <= 0) return paths;
  alignas(inotify_event) std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(queue_.number(), buffer.data(), buffer.size());
  for (ssize_t at = 0; at < count;) {
    const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    const auto folder = folders_.find(event->wd);
    if ((event->mask & IN_Q_OVERFLOW) != 0) paths.insert(Path());  // anything may have changed
    if (folder == folders_.end()) continue;
    paths.insert(event->len > 0 ? folder->second / event->name : folder->second);
  }
  return paths;
}

}  // namespace dsbuild
