// Code objects: the ELF files that are AMD's machine code. Source: "Code Object" and the ELF header's tables
// of LLVM's User Guide for the AMDGPU backend; checked against llvm-readelf
// (docs/internals/offload_bundles.md).
#pragma once

#include <string>
#include <vector>

#include "binary/elf.h"
#include "binary/kernels.h"

namespace dsbuild {

// The target that its flags name: "gfx90a:sramecc+:xnack-", "gfx9-4-generic". Exit 1 `bad_fatbin` for a
// machine that dsbuild does not know, and for code objects before version 4 (ROCm 4.2 and older).
Result<Target> code_object_target(const ElfKind& elf, const std::string& name);

// By their kernel descriptors, the symbols NAME.kd, in the order of the symbol table. Of their resources
// shared memory and stack are told. Exit 1 `bad_elf` for damaged bytes.
Result<std::vector<Kernel>> read_code_object_kernels(Bytes file, const std::string& name);

}  // namespace dsbuild
