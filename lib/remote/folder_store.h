// A cache in a folder that machines share, as on NFS: <folder>/ac/<2 hex digits>/<62 hex digits>, and cas/…
// alike. Each file is written whole or not at all, and was last used at its mtime. There are no locks. Files
// and folders are for others to read and for their owner to write: one user fills the cache, all may use it.
#pragma once

#include <memory>

#include "remote/deadline_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// Touches nothing yet: the folder is made by the first put. `read_only` refuses to put. The store holds
// `files`, since a read that never returns may outlive the caller (remote/deadline_store.h). Error: exit 2,
// code `bad_remote_url`, where the path is not absolute.
Result<std::unique_ptr<RemoteStore>> open_folder_store(std::shared_ptr<FileSystem> files, const Path& folder,
                                                       bool read_only, StoreDeadlines deadlines = {});

}  // namespace dsbuild
