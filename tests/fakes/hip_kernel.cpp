// fused_adam.cu as clang's host code has it, without images: what is registered when the library is loaded
// and taken back at its end, and a launch in three steps. KERNEL is the kernel's name.
#include "fused_adam.h"

#include <cstdlib>

namespace {

struct Dim3 {
  uint32_t x, y, z;
};
struct Wrapper {
  uint32_t magic, version;
  const void* images;
  void* unused;
};

}  // namespace

extern "C" {
void** __hipRegisterFatBinary(const void*);
void __hipUnregisterFatBinary(void**);
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*,
                           int*);
hipError_t __hipPushCallConfiguration(Dim3, Dim3, size_t, hipStream_t);
hipError_t __hipPopCallConfiguration(Dim3*, Dim3*, size_t*, hipStream_t*);
hipError_t hipLaunchKernel(const void*, Dim3, Dim3, void**, size_t, hipStream_t);
}

namespace {

const Wrapper g_wrapper{0x48495046, 1, "no images", nullptr};
void** g_handle;
char g_name[] = KERNEL;

void stub() {
  Dim3 grid, block;
  size_t shared_bytes;
  hipStream_t stream;
  void* arguments[1] = {nullptr};
  if (__hipPopCallConfiguration(&grid, &block, &shared_bytes, &stream) != hipSuccess) return;
  (void)hipLaunchKernel(reinterpret_cast<const void*>(&stub), grid, block, arguments, shared_bytes, stream);
}

__attribute__((constructor)) void begin() {
  g_handle = __hipRegisterFatBinary(&g_wrapper);
  __hipRegisterFunction(g_handle, reinterpret_cast<const void*>(&stub), g_name, g_name, 0xffffffffu, nullptr,
                        nullptr, nullptr, nullptr, nullptr);
  std::atexit([] { __hipUnregisterFatBinary(g_handle); });
}

}  // namespace

namespace dsbuild::ops {

cudaError_t launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType, FloatType,
                              const AdamOptions&, cudaStream_t stream) {
  const Dim3 grid{static_cast<uint32_t>(tensors.size()), 1, 1};
  if (__hipPushCallConfiguration(grid, {256, 1, 1}, 0, stream) == hipSuccess) stub();
  return cudaGetLastError();
}

}  // namespace dsbuild::ops
