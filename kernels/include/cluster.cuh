// Blocks and kernels that know of each other, on sm_90 and newer. Before, these functions do nothing.
//
// Thread block clusters are blocks that run at once and reach each other's shared memory (PTX ISA: mapa,
// st.shared::cluster, barrier.cluster). A kernel may let the next one of its stream be launched while it
// still runs; that one waits by itself for what it reads (PTX ISA: griddepcontrol).
#pragma once

#include "async_copy.cuh"

namespace dsbuild::ops {

constexpr int k_most_cluster = 8;  // blocks of a cluster, on every GPU that has them

__device__ inline int rank_in_cluster() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return static_cast<int>(rank);
}

// All threads of the cluster arrive, and each waits for all: what they have stored before they arrived is
// seen then.
__device__ inline void arrive_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
}

__device__ inline void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

// Stores to where `own` lies, in the shared memory of the block with this rank.
__device__ inline void store_in_block(float* own, int rank, float value) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n"
      ".reg .u32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "st.shared::cluster.f32 [there], %2;\n"
      "}" ::"r"(shared_address(own)),
      "r"(rank), "f"(value)
      : "memory");
#endif
}

__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Until the kernel before has ended, and what it has stored is seen.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace dsbuild::ops
