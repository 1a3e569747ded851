// Blocks and kernels that know of each other, on sm_90 and newer. On older GPUs, and with CUDA older
// than 12.1, these functions do nothing, and each block's rank is 0.
//
// Thread block clusters are blocks that run at once and reach each other's shared memory (PTX ISA: mapa,
// st.async, mbarrier). A kernel may let the next one of its stream be launched while it still runs; that one
// waits by itself for what it reads (PTX ISA: griddepcontrol).
#pragma once

#include "async_copy.cuh"

// Of the code that is compiled now.
#define DSBUILD_HAS_CLUSTERS (__CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12010)

namespace dsbuild::ops {

constexpr int k_most_cluster = 8;  // blocks of a cluster, on every GPU that has them

__device__ inline int rank_in_cluster() {
  unsigned rank = 0;
#if DSBUILD_HAS_CLUSTERS
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return static_cast<int>(rank);
}

// Until all threads of the cluster are here, and their blocks' ByteCounts are seen.
__device__ inline void meet_in_cluster() {
#if DSBUILD_HAS_CLUSTERS
  asm volatile(
      "fence.mbarrier_init.release.cluster;\n"
      "barrier.cluster.arrive.relaxed.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#endif
}

// In shared memory: counts the bytes that blocks of the cluster send to this one. It goes through phases;
// each ends when its bytes are here. A barrier of the cluster would also wait for each block's stores to
// global memory; a ByteCount does not.
class ByteCount {
 public:
  // By one thread, before meet_in_cluster.
  __device__ void begin() {
#if DSBUILD_HAS_CLUSTERS
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(this)) : "memory");
#endif
  }
  // By one thread in each phase. Bytes may arrive before.
  __device__ void expect(int bytes) {
#if DSBUILD_HAS_CLUSTERS
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
                 "r"(bytes)
                 : "memory");
#endif
  }
  // Waits for the end of this phase; phases count from 0. The caller has seen the one before end: the
  // instruction tells only neighbouring phases apart. Its scope is the block: the bytes lie in the block's
  // own shared memory, of which no cache has a copy. The cluster's scope would empty the first-level cache.
  __device__ void wait(unsigned phase) const {
#if DSBUILD_HAS_CLUSTERS
    unsigned is_over = 0;
    while (is_over == 0) {
      asm volatile(
          "{\n"
          ".reg .pred over;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
          "selp.u32 %0, 1, 0, over;\n"
          "}"
          : "=r"(is_over)
          : "r"(shared_address(this)), "r"(phase % 2)
          : "memory");
    }
#endif
  }

 private:
  uint64_t state_;
};

// Sends a value to where `own` lies in the block with this rank; its `count` there counts the bytes.
__device__ inline void send_to_block(int rank, float* own, float value, ByteCount* count) {
#if DSBUILD_HAS_CLUSTERS
  asm volatile(
      "{\n"
      ".reg .u32 there, counter;\n"
      "mapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 counter, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [there], %3, [counter];\n"
      "}" ::"r"(shared_address(own)),
      "r"(shared_address(count)), "r"(rank), "f"(value)
      : "memory");
#endif
}

__device__ inline void let_next_kernel_start() {
#if DSBUILD_HAS_CLUSTERS
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Until the kernel before has ended, and what it has stored is seen.
__device__ inline void wait_for_kernel_before() {
#if DSBUILD_HAS_CLUSTERS
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace dsbuild::ops
