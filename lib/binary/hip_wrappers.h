// How a file hands its bundles to HIP's runtime: .hipFatBinSegment has 24 bytes for each translation unit
// ("FPIH", 1, the bundle's address, 0), and code that is linked for the device (-fgpu-rdc) has one bundle for
// several of them.
#pragma once

#include <string>

#include "binary/elf.h"

namespace dsbuild {

// How many bundles they name. In an object each is a name that the linker resolves; in what is linked the
// addresses are in the section, or in the relocations alone (lld). Exit 1 `bad_fatbin` for damaged ones.
Result<size_t> count_wrapped_bundles(const ElfHeaders& elf, ByteRange file, const std::string& name);

}  // namespace dsbuild
