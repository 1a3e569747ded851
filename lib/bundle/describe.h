// What a built library is, for the manifest: size, digest and device images, read from the file itself.
#pragma once

#include "base/result.h"
#include "bundle/manifest.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// Fills in sha256, bytes and images. The images of each content are remembered in `facts`.
// Exit 1 for a file that cannot be read or is no library.
Result<void> describe_library(ManifestOp& op, const Path& library, const FileReader& files, FactStore& facts,
                              DigestMemo& digests);

}  // namespace dsbuild
