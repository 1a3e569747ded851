// Device images of Intel's GPUs: SPIR-V, which a driver compiles, and what ocloc makes of it. Sources: the
// SPIR-V specification (header, instructions, OpMemoryModel); files of ocloc 22.43 for each device that it
// knows, and libraries of PyPI's wheels (docs/internals/offload_bundles.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "binary/archive.h"
#include "binary/elf.h"
#include "binary/kernels.h"
#include "binary/stored_image.h"

namespace dsbuild {

bool is_spirv(Bytes bytes);  // starts with a module, of either byte order
// ocloc's container of the types that its drivers know, or a device binary ("zebin").
bool is_intel_elf(const ElfKind& elf);
// A section in which SYCL's compilers put images, fat objects' too.
bool holds_sycl_images(std::string_view section);

// Reads images in sequence, with zeros between: SPIR-V, ELF files and archives of ocloc, each of them plain
// or as a frame of zstd. Only an image's own size says where the next one begins, so the whole section is
// read. LLVM bitcode, for a device link, is passed over. Exit 1 `bad_fatbin` (`bad_elf`, `bad_archive`) for
// damaged bytes and for kinds and devices that are not known.
Result<StoredContainer> read_image_sequence(ByteRange section, const std::string& name);

// The images of an ELF file that is_intel_elf. SPIR-V counts next to machine code too: a driver takes it
// where the machine code does not fit.
Result<StoredContainer> read_intel_elf(ByteRange file, const std::string& name);
// The images of an archive's member, whose name says the device ("64.12.60.7").
Result<StoredContainer> read_intel_member(const ArchiveMember& member, const std::string& name);

// Those of machine code, in its order. Exit 1 `bad_fatbin` for damaged bytes.
Result<std::vector<Kernel>> read_intel_kernels(Bytes image, const std::string& name);

}  // namespace dsbuild
