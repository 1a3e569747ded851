// Lists the functions in machine code, with their sizes, registers and memory. For AMD see code_object.h, for
// Intel intel_image.h. Sources: the sections and attributes that cuobjdump -elf names (.text.NAME, .nv.info,
// EIATTR_…); what is read of them is compared with cuobjdump --dump-resource-usage, spills with what ptxas -v
// says (docs/internals/fatbin.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "binary/image.h"

namespace dsbuild {

// Bytes, where nothing else is said.
struct KernelResources {
  uint32_t registers = 0;  // of a thread
  uint64_t stack = 0;      // of a thread, with all that it calls; 0 before a device link of -rdc=true
  uint64_t shared = 0;     // static, of a block; from 9.0 on with the 1024 that CUDA keeps for itself
  uint64_t local = 0;      // of a thread; 0 since 2.0, where it became a stack
  uint64_t constant = 0;   // constant bank 0: the parameters and what lies before them
  // What its spill instructions move; nullopt where the cubin does not say (CUDA before 13).
  std::optional<uint64_t> spill_stores;
  std::optional<uint64_t> spill_loads;
  bool operator==(const KernelResources&) const = default;
};

struct Kernel {
  std::string name;       // as the symbol is: mangled
  bool is_entry = false;  // else a __device__ function, which other kernels call
  uint64_t bytes = 0;     // of machine code
  KernelResources resources;
  bool operator==(const Kernel&) const = default;
};

// In the order of the sections. Exit 1 `bad_elf` for damaged bytes, and for what is no cubin.
Result<std::vector<Kernel>> read_cubin_kernels(Bytes cubin, const std::string& name);

struct ImageKernels {
  DeviceImage image;
  size_t module = 0;  // its container in the file, from 0
  std::vector<Kernel> kernels;
};
// Of each image of machine code in a file, in its order (PTX has kernels only when a driver compiles it).
// Compressed images are unpacked, one at a time. Errors: those of read_device_code, unpack_image and
// read_cubin_kernels: nothing is left out without a word.
Result<std::vector<ImageKernels>> read_kernels(ByteRange file, const std::string& name);
// The same, one image at a time: libraries of a gigabyte have more kernels than are wanted in memory.
Result<void> visit_kernels(ByteRange file, const std::string& name,
                           const std::function<void(ImageKernels)>& visit);

}  // namespace dsbuild
