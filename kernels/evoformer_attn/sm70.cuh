// Volta: m8n8k4. A warp's four quad pairs (8 lanes each: lanes 0-3 and 16-19, …) make four 8×8 products,
// which stand here 2×2 for one of 16×16: lane bit 2 chooses the rows, lane bit 3 the columns.
#pragma once

#include "family.cuh"

namespace dsbuild::ops {

struct Sm70 : SynchronousCopy {
  static constexpr int version = 70;
  static constexpr bool bfloat16 = false;
  static constexpr int row_distance = 2;
  static constexpr int column_distance = 4;
  static constexpr int mate1 = 2;
  static constexpr int mate2 = 8;

  struct Left {
    uint32_t word[8];
  };
  struct Right {
    uint32_t word[8];
  };
  struct RightTransposed {
    uint32_t word[8];
  };
  // Accumulators and left operands are spread over the lanes in different ways.
  struct Scratch {
    static constexpr int stride = k_step + 8;
    alignas(16) uint16_t item[k_step * stride];
  };

  __device__ static int first_row() {
    return (lane_id() & 1) + lane_id() / 16 * 4 + (lane_id() >> 2 & 1) * 8;
  }
  __device__ static int first_column() { return (lane_id() & 2) + (lane_id() >> 3 & 1) * 8; }

  template <class T>
  __device__ static Left left(const T* tile, int stride) {
    Left result;
    load_row(result.word, tile + quad_pair_row(lane_id() >> 2 & 1) * stride);
    return result;
  }

  template <class T>
  __device__ static RightTransposed right_transposed(const T* tile, int stride) {
    RightTransposed result;
    load_row(result.word, tile + quad_pair_row(lane_id() >> 3 & 1) * stride);
    return result;
  }

  template <class T>
  __device__ static Right right(const T* tile, int stride) {
    const T* own = tile + lane_id() % 4 * stride + lane_id() / 16 * 4 + (lane_id() >> 3 & 1) * 8;
    Right result;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const auto words = *reinterpret_cast<const Pack<uint32_t, 2>*>(own + 4 * k * stride);
      result.word[2 * k] = words.item[0];
      result.word[2 * k + 1] = words.item[1];
    }
    return result;
  }

  template <class T>
  __device__ static Words words(const T* tile, int stride) {
    const T* own = tile + first_row() * stride + first_column();
    Words result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* two = own + i % 2 * row_distance * stride + i / 2 * column_distance;
      result.word[i] = *reinterpret_cast<const uint32_t*>(two);
    }
    return result;
  }

  template <class T>
  __device__ static Words words_transposed(const T* tile, int stride) {
    const T* own = tile + first_column() * stride + first_row();
    Words result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* one = own + i / 2 * column_distance * stride + i % 2 * row_distance;
      result.word[i] = one[0].bits | static_cast<uint32_t>(one[stride].bits) << 16;
    }
    return result;
  }

  template <class T>
  __device__ static void multiply(Accumulators& sum, const Left& a, const Right& b) {
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      asm("mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
          "{%0,%1,%2,%3,%4,%5,%6,%7};"
          : "+f"(sum.item[0]), "+f"(sum.item[1]), "+f"(sum.item[2]), "+f"(sum.item[3]), "+f"(sum.item[4]),
            "+f"(sum.item[5]), "+f"(sum.item[6]), "+f"(sum.item[7])
          : "r"(a.word[k]), "r"(a.word[k + 1]), "r"(b.word[k]), "r"(b.word[k + 1]));
    }
  }

  template <class T>
  __device__ static void multiply(Accumulators& sum, const Left& a, const RightTransposed& b) {
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
      asm("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
          "{%0,%1,%2,%3,%4,%5,%6,%7};"
          : "+f"(sum.item[0]), "+f"(sum.item[1]), "+f"(sum.item[2]), "+f"(sum.item[3]), "+f"(sum.item[4]),
            "+f"(sum.item[5]), "+f"(sum.item[6]), "+f"(sum.item[7])
          : "r"(a.word[k]), "r"(a.word[k + 1]), "r"(b.word[k]), "r"(b.word[k + 1]));
    }
  }

  template <class T>
  __device__ static Left left_of(const Accumulators& numbers, Scratch& scratch) {
    uint16_t* own = scratch.item + first_row() * Scratch::stride + first_column();
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      const int place = (i / 2 % 2) * row_distance * Scratch::stride + i / 4 * column_distance;
      *reinterpret_cast<uint32_t*>(own + place) = rounded_pair<T>(numbers.item[i], numbers.item[i + 1]);
    }
    __syncwarp();
    return left(scratch.item, Scratch::stride);
  }

 private:
  // Of 16 rows: the one that this lane gives to its quad pair's operand.
  __device__ static int quad_pair_row(int half) { return lane_id() % 4 + lane_id() / 16 * 4 + half * 8; }

  template <class T>
  __device__ static void load_row(uint32_t (&word)[8], const T* row) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto words = *reinterpret_cast<const Pack<uint32_t, 4>*>(row + 8 * half);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        word[4 * half + i] = words.item[i];
    }
  }
};

}  // namespace dsbuild::ops
