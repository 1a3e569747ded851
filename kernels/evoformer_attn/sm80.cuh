// Ampere and newer: m16n8k16, bfloat16, and copies to shared memory that run beside the arithmetic.
#pragma once

#include "sm75.cuh"

namespace dsbuild::ops {

struct AsynchronousCopy {
  static constexpr int stages = 2;

  // Zeros where there is no source.
  template <int bytes>
  __device__ static void copy(void* to, const void* from, bool there) {
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
  }
  __device__ static void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  template <int still_running>
  __device__ static void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(still_running) : "memory");
  }
};

// One 16×8 product of depth 16.
__device__ inline void multiply_step(Half, float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply_step(Bfloat16, float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline uint32_t round_two(Half, float low, float high) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ inline uint32_t round_two(Bfloat16, float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

struct Sm80 : MatrixLayout, AsynchronousCopy {
  static constexpr int version = 80;
  static constexpr bool bfloat16 = true;

  template <class T>
  __device__ static Left left_of(const Accumulators& a, Scratch&) {
    return {{round_two(T{}, a.item[0], a.item[1]), round_two(T{}, a.item[2], a.item[3]),
             round_two(T{}, a.item[4], a.item[5]), round_two(T{}, a.item[6], a.item[7])}};
  }

  template <class T>
  __device__ static void multiply(Accumulators& sum, const Left& a, const Right& b) {
    multiply_step(T{}, sum.item, a.word, b.word[0], b.word[1]);
    multiply_step(T{}, sum.item + 4, a.word, b.word[2], b.word[3]);
  }
};

}  // namespace dsbuild::ops
