// Tells whether a disk belongs to this machine alone. On a disk of several machines, locks may not work
// (flock on NFS, Lustre without it), names and bytes appear late, and a build is slow. Such a disk is
// suitable for files that are whole or absent, but not for a build folder.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

// Decides by the file system (statfs(2)) of the nearest existing folder above. Only those that are known to
// belong to one machine count: ext, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, overlay and the like. NFS,
// Lustre, GPFS, CephFS, SMB, 9P, everything of FUSE and what is not known do not.
bool is_on_own_disk(const Path& path);

// <parent>/dsbuild-<uid> of the first parent, which this user alone may enter (mode 0700) and from which
// libraries can be loaded (no `noexec`). It is made if need be. Error: exit 1 `unsafe_folder`: something else
// stands at that name below each of them, such as a link or another user's folder.
Result<Path> make_own_folder(const std::vector<Path>& parents);

}  // namespace dsbuild
