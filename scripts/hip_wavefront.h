// What the HIP headers of ROCm 5.2 expect of a compiler and clang no longer has (from 20 on). Included before every
// HIP source by llvm/bin/clang++.cfg; says nothing to a source that is not HIP.
#pragma once
#ifdef __HIP__

// The wavefront size of each GPU was a macro. What asks for -mwavefrontsize64 is not seen here.
#ifndef __AMDGCN_WAVEFRONT_SIZE
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
#endif

// Two reciprocals of clang's own headers. gfx7 has no arithmetic of 16 bits.
#if defined(__GFX7__)
#define __llvm_amdgcn_rcp_f16(x) static_cast<_Float16>(__builtin_amdgcn_rcpf(static_cast<float>(x)))
#else
#define __llvm_amdgcn_rcp_f16(x) __builtin_amdgcn_rcph(x)
#endif
#define __llvm_amdgcn_rcp_2f16(x) \
  _Float16_2 { __llvm_amdgcn_rcp_f16((x).data.x), __llvm_amdgcn_rcp_f16((x).data.y) }

// A fence that was in hip.bc, which clang no longer links.
#include <hip/hip_runtime.h>
#ifdef __HIP_DEVICE_COMPILE__
extern "C" __device__ inline __attribute__((always_inline)) void __atomic_work_item_fence(
    __cl_mem_fence_flags, __memory_order, __memory_scope scope) {
  if (scope == __memory_scope_work_group)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else if (scope == __memory_scope_device)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  else
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
#endif
#endif
