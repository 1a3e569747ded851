// Device images inside binary files, read without CUDA.
// Sources: the ELF-64 specification; fatbinary_section.h of the CUDA toolkit (magic numbers of the
// wrapper 0x466243b1 and the container 0xba55ed50, sections .nv_fatbin and .nvFatBinSegment); the
// layout of container entries as observed from CUDA 11.8 to 13.5 and checked against cuobjdump
// (docs/fatbin.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/target.h"
#include "base/byte_source.h"
#include "base/result.h"

namespace dsbuild {

struct DeviceImage {
  Target target;  // sm_90a: real; compute_80: ptx
  // Stored size (compressed if it is). Images that are compressed together (nvcc --concat) have none of their
  // own: each has a share of what they take, in proportion to their unpacked sizes, and the shares add up.
  uint64_t bytes = 0;
  bool compressed = false;
  auto operator<=>(const DeviceImage&) const = default;
};

// What one fatbin container holds, in file order. Each CUDA TU gives its object one container (with nvcc
// -enable-tile a second one, of its Tile code), and a link keeps them apart, in the order of the objects.
struct FatbinContainer {
  std::vector<DeviceImage> images;
  // Tile IR, which a driver compiles for its GPU: neither machine code nor PTX. The target is the real one
  // that it was made beside; no rule is known by which it runs on others.
  std::vector<DeviceImage> tile_images;
  // Whether none of the images has code or data, so that the file runs where they do not: nvcc's own link
  // leaves such a container behind, of its default arch. Looked for by read_device_code, not by read_fatbins.
  bool is_empty = false;
};

// All containers of a section, in file order; `name` is only for messages. Every offset is checked in 64
// bits, every loop advances, nothing but headers is read. Damaged bytes and entries of a kind that dsbuild
// does not know give exit 1 `bad_fatbin`; NVVM code for link-time optimisation is passed over.
Result<std::vector<FatbinContainer>> read_fatbins(ByteRange section, const std::string& name);

struct DeviceCode {
  std::vector<DeviceImage> images;          // of all containers, file order
  std::vector<DeviceImage> tile_images;     // likewise
  std::vector<FatbinContainer> containers;  // the same images by container; a bare cubin or PTX is one
};
// Of an ELF object, shared library or executable (.nv_fatbin and __nv_relfatbin sections; cubin), an
// ar archive of objects, a bare fatbin, or PTX text. Only headers are read. Exit 1 `bad_elf`, `bad_archive`
// or `bad_fatbin` for damaged or foreign bytes, `io` where they cannot be read.
Result<DeviceCode> read_device_code(ByteRange file, const std::string& name);

ArchSet archs_of(const DeviceCode& code);
// Of each module, in the order of the file; none for one whose images are empty.
std::vector<ArchSet> modules_of(const DeviceCode& code);

struct BinaryFile : DeviceCode {
  std::vector<std::string> exports;          // defined, global or weak, default-visibility symbols; sorted
  std::vector<std::string> needed;           // DT_NEEDED
  std::vector<std::string> wanted_versions;  // of symbols of others: "GLIBC_2.34"; sorted
};
// The same, and what else the linker knows of it.
Result<BinaryFile> read_binary(Bytes file, const std::string& name);

}  // namespace dsbuild
