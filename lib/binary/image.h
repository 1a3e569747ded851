// Device images of all vendors inside binary files, read without their tools. The header for each kind names
// the sources and checks of its format: fatbin.h (CUDA), offload_bundle.h and code_object.h (HIP),
// intel_image.h (SYCL).
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
  // Stored size (compressed if it is). Images that are compressed together (nvcc --concat, a compressed
  // bundle of clang's) have none of their own: each has a share of what they take, in proportion to their
  // unpacked sizes, and the shares add up.
  uint64_t bytes = 0;
  bool compressed = false;
  auto operator<=>(const DeviceImage&) const = default;
};

// What one fatbin container or offload bundle holds, in file order. Each CUDA or HIP TU gives its object one
// (with nvcc -enable-tile a second one, of its Tile code), and a link keeps them apart, in the order of the
// objects. A library of SYCL has one for all: each of its targets has all of its kernels, split at will.
struct DeviceContainer {
  std::vector<DeviceImage> images;
  // Tile IR, which a driver compiles for its GPU: neither machine code nor PTX. The target is the real one
  // that nvcc made with it. No rule says on which others it runs.
  std::vector<DeviceImage> tile_images;
  // Whether none of the images has code or data, so that the file runs where they do not. nvcc's own link
  // adds such a container, of its default arch.
  bool is_empty = false;
  // Of __nv_relfatbin (nvcc -rdc=true, -dc): the input of a device link, whose result is a container of its
  // own. No GPU and no driver takes it; a linked library still has it.
  bool is_relocatable = false;
};

struct DeviceCode {
  std::vector<DeviceImage> images;          // of all containers, file order
  std::vector<DeviceImage> tile_images;     // likewise
  std::vector<DeviceContainer> containers;  // the same images by container; a bare image is one
};
// Of an ELF object, shared library or executable, an ar archive of objects or of device images, a bare
// fatbin, offload bundle or image of any vendor (cubin, code object, device binary, SPIR-V, PTX text). Every
// offset is checked in 64 bits, every loop advances; of CUDA's code headers alone are read. Exit 1 `bad_elf`,
// `bad_archive` or `bad_fatbin` for damaged or foreign bytes and for code of a kind that dsbuild does not
// know, `io` where they cannot be read. Code for a device link (NVVM, LLVM bitcode) is passed over.
Result<DeviceCode> read_device_code(ByteRange file, const std::string& name);

// Removes the inputs of a device link, which no GPU and no driver can load.
void keep_loadable(DeviceCode& code);

ArchSet archs_of(const DeviceCode& code);
// The archs of each module, in the order of the file. Leaves out modules that cannot run: empty or
// relocatable ones.
std::vector<ArchSet> modules_of(const DeviceCode& code);

struct BinaryFile : DeviceCode {
  std::vector<std::string> exports;          // defined, global or weak, default-visibility symbols; sorted
  std::vector<std::string> needed;           // DT_NEEDED
  std::vector<std::string> wanted_versions;  // of symbols of others: "GLIBC_2.34"; sorted
};
// The same, with exports, needed libraries and versions.
Result<BinaryFile> read_binary(Bytes file, const std::string& name);

}  // namespace dsbuild
