// What a built library is, for the manifest: size, digest, device images and what it needs to be loaded, read
// from the file itself.
#pragma once

#include "base/result.h"
#include "binary/image.h"
#include "bundle/manifest.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// Its needed libraries, and the highest version that it wants of each name.
ManifestRuntime runtime_of(const BinaryFile& library);

// Fills in sha256, bytes, images and runtime. `facts` remembers the results by content.
// Exit 1 for a file that cannot be read or is no library.
Result<void> describe_library(ManifestOp& op, const Path& library, const FileReader& files, FactStore& facts,
                              DigestMemo& digests);

}  // namespace dsbuild
