// A shared cache in a folder that several machines see, such as on NFS: <folder>/ac/<2 hex digits>/<62 hex
// digits>, and cas/… likewise. Each file appears whole or not at all, and its mtime is its last use. There
// are no locks. All users may read files and folders, only their owner may write them: one user fills the
// cache, all may use it.
#pragma once

#include <memory>

#include "remote/deadline_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// Reads and writes nothing yet: the first put() makes the folder. With `read_only`, put() refuses. The store
// shares `files`, because a read that never returns may outlive the caller (remote/deadline_store.h). Error:
// exit 2 `bad_remote_url` if the path is not absolute.
Result<std::unique_ptr<RemoteStore>> open_folder_store(std::shared_ptr<FileSystem> files, const Path& folder,
                                                       bool read_only, StoreDeadlines deadlines = {});

}  // namespace dsbuild
