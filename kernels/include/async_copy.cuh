// Copies from global to shared memory while the thread works on (cp.async, sm_80 and newer). Before
// sm_80 the thread copies at once, and nothing is ever waited for. A thread waits for its own copies only.
#pragma once

#include "low_precision.cuh"

namespace dsbuild::ops {

__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 4, 8 or 16 bytes, at multiples of as many. Zeros where there is no source.
template <int bytes>
__device__ void copy_async(void* to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const int source_bytes = there ? bytes : 0;
  if (bytes == 16) {  // past the first-level cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(shared_address(to)), "l"(from), "n"(bytes), "r"(source_bytes)
                 : "memory");
  }
#else
  using Words = Pack<uint32_t, bytes / 4>;
  *static_cast<Words*>(to) = there ? *static_cast<const Words*>(from) : Words{};
#endif
}

// Ends a group of copies, which may be none.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until no more than the last `still_running` groups are on their way.
template <int still_running>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(still_running) : "memory");
#endif
}

}  // namespace dsbuild::ops
