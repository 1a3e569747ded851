// What a kernel family is made of. The kernels are templates over a family, a class that has
//   Left, Right, RightTransposed    16×16 operands of the matrix step, in a warp's registers
//   left, right, right_transposed   load them from shared memory (the last one from a tile of rows of the
//                                   right operand's columns)
//   multiply<T>                     accumulators += left operand × right operand
//   left_of<T>                      16×16 accumulators, rounded to T, as a left operand
//   words, words_transposed         16×16 numbers of shared memory as accumulators have them
//   first_row, first_column, …      which accumulators a lane has: see Accumulators
//   copy, commit, wait, stages      global to shared memory, and how many tiles are under way at once
#pragma once

#include "gpu_instructions.cuh"
#include "low_precision.cuh"

namespace dsbuild::ops {

constexpr int k_step = 16;  // rows, columns and depth of a matrix step
constexpr unsigned k_all_lanes = 0xffffffffu;

// A lane's 8 of 16×16 numbers. In every family they lie in 2 rows and 2 pairs of neighbouring columns:
// item[4 * pair + 2 * slot + c] is at row first_row() + row_distance * slot and column
// first_column() + column_distance * pair + c. The lanes that share a row differ by the bits of mate1, mate2.
struct Accumulators {
  float item[8];

  __device__ float& at(int pair, int slot, int c) { return item[4 * pair + 2 * slot + c]; }
  __device__ float at(int pair, int slot, int c) const { return item[4 * pair + 2 * slot + c]; }
};

// Two 16-bit numbers of shared memory for each two accumulators: word[2 * pair + slot].
struct Words {
  uint32_t word[4];
};

__device__ inline int lane_id() {
  return static_cast<int>(threadIdx.x) % k_warp;
}

template <class T>
__device__ float low_of(uint32_t word) {
  return to_float(T{static_cast<uint16_t>(word)});
}
template <class T>
__device__ float high_of(uint32_t word) {
  return to_float(T{static_cast<uint16_t>(word >> 16)});
}

// Through registers; a tile is complete when every thread has passed a barrier.
struct SynchronousCopy {
  static constexpr int stages = 1;

  // Zeros where there is no source.
  template <int bytes>
  __device__ static void copy(void* to, const void* from, bool there) {
    using Words = Pack<uint32_t, bytes / 4>;
    *static_cast<Words*>(to) = there ? *static_cast<const Words*>(from) : Words{};
  }
  __device__ static void commit() {}
  template <int still_running>
  __device__ static void wait() {}
};

}  // namespace dsbuild::ops
