// Reads from a built library what the manifest says of it: size, digest, device images, and what it needs to
// be loaded.
#pragma once

#include "base/result.h"
#include "binary/image.h"
#include "bundle/manifest.h"
#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "sys/file_system.h"

namespace dsbuild {

// The libraries that it needs, and the highest version that it needs of each version name (GLIBC, …).
ManifestRuntime runtime_of(const BinaryFile& library);

// Fills in sha256, bytes, images and runtime. `facts` remembers the results by content. Error: exit 1 if the
// file cannot be read or is no library.
Result<void> describe_library(ManifestOp& op, const Path& library, const FileReader& files, FactStore& facts,
                              DigestMemo& digests);

}  // namespace dsbuild
