#include "sys/node_disk.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "sys/descriptor.h"

namespace dsbuild {
namespace {

// Source: linux/magic.h, and statfs(2) for those that have no line there.
constexpr std::array<uint32_t, 14> k_of_one_machine = {
    0xef53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683e,  // Btrfs
    0xf2f52010,  // F2FS
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x794c7630,  // overlay
    0x3153464a,  // JFS
    0x52654973,  // ReiserFS
    0x73717368,  // squashfs
    0xf15f,      // eCryptfs
    0xe0f5e1e2,  // EROFS
};

Path nearest_folder(Path path) {
  struct stat status{};
  while (path.has_relative_path() && ::stat(path.c_str(), &status) != 0)
    path = path.parent_path();
  return path.empty() ? Path(".") : path;
}

// Made by us, or there: a folder, no link to one, that nobody else may enter.
bool is_ours_alone(const Path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat status{};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & 0777) == 0700;
}

bool can_load_from(const Path& folder) {
  struct statvfs disk{};
  return ::statvfs(folder.c_str(), &disk) == 0 && (disk.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0;
}

}  // namespace

bool is_on_own_disk(const Path& path) {
  struct statfs disk{};
  if (::statfs(nearest_folder(path).c_str(), &disk) != 0) return false;
  const auto magic = static_cast<uint32_t>(disk.f_type);
  return std::find(k_of_one_machine.begin(), k_of_one_machine.end(), magic) != k_of_one_machine.end();
}

Result<Path> make_own_folder(const std::vector<Path>& parents) {
  std::string tried;
  for (const Path& parent : parents) {
    Path folder = parent / ("dsbuild-" + std::to_string(::geteuid()));
    if (can_load_from(parent) && is_ours_alone(folder)) return folder;
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  return fail(
      Exit::failed, "unsafe_folder", tried,
      "none of them can be a folder of this user alone (mode 0700, no link) from which libraries are loaded",
      "Remove what stands there, or set TORCH_EXTENSIONS_DIR to a folder on a disk of this machine.");
}

}  // namespace dsbuild
