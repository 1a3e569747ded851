// Ampere and newer: m16n8k16, bfloat16, and copies to shared memory that run beside the arithmetic.
#pragma once

#include "async_copy.cuh"
#include "sm75.cuh"

namespace dsbuild::ops {

struct AsynchronousCopy {
  static constexpr int stages = 2;

  template <int bytes>
  __device__ static void copy(void* to, const void* from, bool there) {
    copy_async<bytes>(to, from, there);
  }
  __device__ static void commit() { commit_copies(); }
  template <int still_running>
  __device__ static void wait() {
    wait_for_copies<still_running>();
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
