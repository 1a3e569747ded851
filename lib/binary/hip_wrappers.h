// How a file hands its bundles to HIP's runtime: .hipFatBinSegment has 24 bytes for each translation unit
// ("FPIH", 1, the bundle's address, 0), and code that is linked for the device (-fgpu-rdc) has one bundle for
// several of them.
#pragma once

#include <string>

#include "binary/elf.h"

namespace dsbuild {

// The number of bundles that they name. In an object, each is a symbol for the linker. In a linked file, the
// addresses are in the section, or only in the relocations (lld). Exit 1 `bad_fatbin` for damaged ones.
Result<size_t> count_wrapped_bundles(const ElfHeaders& elf, ByteRange file, const std::string& name);

}  // namespace dsbuild
