// Whether a disk is this node's own. Where several nodes share one, locks may not hold (flock of NFS, Lustre
// without it), names and bytes show up late, and a build is slow: such a folder is good for what is whole or
// absent, and for nothing that is being made.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

// By the file system (statfs(2)) of the nearest folder above that is there. Only those that are known to
// belong to one machine count: ext, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, overlay and the like. NFS,
// Lustre, GPFS, CephFS, SMB, 9P, everything of FUSE and what is not known do not.
bool is_on_own_disk(const Path& path);

// <parent>/dsbuild-<uid> of the first parent, which this user alone may enter (mode 0700) and from which
// libraries can be loaded (no `noexec`). It is made if need be. Error: exit 1 `unsafe_folder`: something else
// stands at that name below each of them, such as a link or another user's folder.
Result<Path> make_own_folder(const std::vector<Path>& parents);

}  // namespace dsbuild
