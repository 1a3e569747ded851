// Clang's offload bundles, which hold the device images of HIP. Sources: the documentation of
// clang-offload-bundler (names of entries, sections); the bytes as clang 16, 19 and 22 write them
// (docs/internals/offload_bundles.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "binary/stored_image.h"

namespace dsbuild {

bool is_offload_bundle(Bytes bytes);  // starts with a bundle, compressed or not

// The images of a section or file of bundles, which start at multiples of 4096 with zeros between: a
// container for each. Entries of a host, and those of code for a device link (LLVM bitcode), have none.
// Headers are read, and what is compressed is unpacked, one bundle at a time. Exit 1 `bad_fatbin` for damaged
// bytes, for kinds that are not known, and where an entry's name is not what the image in it says it is for.
Result<std::vector<StoredContainer>> read_stored_bundles(ByteRange section, const std::string& name);

struct BundleEntry {
  std::string id;    // "hipv4-amdgcn-amd-amdhsa--gfx90a": kind, triple, target
  std::string code;  // a host's is empty
};
// Byte for byte what `clang-offload-bundler -type=o -bundle-align=4096` makes of these, in this order.
std::string write_offload_bundle(const std::vector<BundleEntry>& entries);

// The name that the bundler of this clang (its major version) writes for a word of -targets=: clang 16 takes
// it as it is, newer ones give each triple four parts, "host-x86_64-unknown-linux-gnu" an empty target too.
std::string bundle_entry_id(std::string_view word, int clang);

}  // namespace dsbuild
