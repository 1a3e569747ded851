// Turing: m16n8k8 and ldmatrix. Two steps of depth 8 use the operands of one m16n8k16, so that Sm80 has the
// same layout.
#pragma once

#include "async_copy.cuh"
#include "family.cuh"

namespace dsbuild::ops {

struct MatrixLayout {
  static constexpr int row_distance = 8;
  static constexpr int column_distance = 8;
  static constexpr int mate1 = 1;
  static constexpr int mate2 = 2;

  struct Left {
    uint32_t word[4];  // 8×8 blocks: upper left, lower left, upper right, lower right
  };
  struct Right {
    uint32_t word[4];  // left columns, upper and lower half; right columns, upper and lower half
  };
  using RightTransposed = Right;
  struct Scratch {};

  __device__ static int first_row() { return lane_id() / 4; }
  __device__ static int first_column() { return lane_id() % 4 * 2; }

  template <class T>
  __device__ static Left left(const T* tile, int stride) {
    Left result;
    load<false>(result.word, tile + lane_id() % 16 * stride + lane_id() / 16 * 8);
    return result;
  }

  template <class T>
  __device__ static Right right_transposed(const T* tile, int stride) {
    Right result;
    load<false>(result.word, tile + (lane_id() % 8 + lane_id() / 16 * 8) * stride + lane_id() / 8 % 2 * 8);
    return result;
  }

  template <class T>
  __device__ static Right right(const T* tile, int stride) {
    Right result;
    load<true>(result.word, tile + lane_id() % 16 * stride + lane_id() / 16 * 8);
    return result;
  }

  template <class T>
  __device__ static Words words(const T* tile, int stride) {
    Words result;
    load<false>(result.word, tile + lane_id() % 16 * stride + lane_id() / 16 * 8);
    return result;
  }

  template <class T>
  __device__ static Words words_transposed(const T* tile, int stride) {
    Words result;
    load<true>(result.word, tile + (lane_id() % 8 + lane_id() / 16 * 8) * stride + lane_id() / 8 % 2 * 8);
    return result;
  }

 private:
  // Four 8×8 blocks; lanes 0-7 point to the rows of the first one, and so on.
  template <bool transposed, class T>
  __device__ static void load(uint32_t (&word)[4], const T* row) {
    const unsigned address = shared_address(row);
    if (transposed) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "r"(address)
                   : "memory");
    } else {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "r"(address)
                   : "memory");
    }
  }
};

struct Sm75 : MatrixLayout, SynchronousCopy {
  static constexpr int version = 75;
  static constexpr bool bfloat16 = false;

  template <class T>
  __device__ static Left left_of(const Accumulators& a, Scratch&) {
    return {{rounded_pair<T>(a.item[0], a.item[1]), rounded_pair<T>(a.item[2], a.item[3]),
             rounded_pair<T>(a.item[4], a.item[5]), rounded_pair<T>(a.item[6], a.item[7])}};
  }

  template <class T>
  __device__ static void multiply(Accumulators& sum, const Left& a, const Right& b) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        float* c = sum.item + 4 * n;
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a.word[2 * k]), "r"(a.word[2 * k + 1]), "r"(b.word[2 * n + k]));
      }
    }
  }
};

}  // namespace dsbuild::ops
