// How a block goes through many rows. A thread has the same columns of each row, so what it needs or adds up
// for these columns stays in its registers. The rows behind the one that is worked on are on their way to
// shared memory, where a thread reads what it has fetched itself: only the sums over a row need its other
// threads.
#pragma once

#include "async_copy.cuh"
#include "norm_stream_plan.cuh"

namespace dsbuild::ops {

// Some of the warps of a block wait for each other; `number`: their own, less than k_most_barriers.
__device__ inline void wait_for_threads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Adds up what the threads of a row have. All get the same bits. What a slow warp has yet to read of one
// turn, no other overwrites in the next.
template <int count>
class RowSums {
 public:
  __device__ RowSums(const RowLayout& layout, const RowPlace& place)
      : threads_(layout.threads), barrier_(place.row + 1), thread_(place.thread) {
    __shared__ Sums<count> of_warp[2][k_warp];
    of_row_ = &of_warp[0][place.row * (threads_ / k_warp)];
  }
  __device__ Sums<count> operator()(Sums<count> sums) {
    if (threads_ <= k_warp) return merged_in_lanes(sums, threads_);
    sums = merged_in_lanes(sums, k_warp);
    Sums<count>* const of_turn = of_row_ + turn_;
    const int lane = thread_ % k_warp;
    if (lane == 0) of_turn[thread_ / k_warp] = sums;
    wait_for_threads(barrier_, threads_);
    sums = lane < threads_ / k_warp ? of_turn[lane] : Sums<count>::none();
    turn_ ^= k_warp;
    return merged_in_lanes(sums, k_warp);
  }

 private:
  int threads_, barrier_, thread_;
  int turn_ = 0;
  Sums<count>* of_row_;
};

// The rows of a thread, one after the other: its part of arrays of the input's shape.
template <class T, int packs>
class RowStream {
  static constexpr int width = k_pack_width<T>;

 public:
  // `number` of `count` blocks or clusters that share the rows.
  __device__ RowStream(uint4* memory, const NormShape& shape, const Columns& columns, const RowPlace& place,
                       int rows_of_block, int number, int count, int stages,
                       const void* const (&from)[k_stream_arrays])
      : columns_(columns),
        hidden_(shape.hidden),
        rows_(static_cast<int>(shape.rows)),
        first_(number * rows_of_block),
        in_block_(place.row),
        stride_(count * rows_of_block),
        stages_(stages),
        memory_(memory + threadIdx.x) {
#pragma unroll
    for (int i = 0; i < k_stream_arrays; ++i)
      from_[i] = static_cast<const T*>(from[i]) + columns_.template begin<width>(0);
    first_ahead_ = first_;
    for (int stage = 0; stage + 1 < stages; ++stage)
      fetch_next();
  }
  // Is there a row for any thread of the block?
  __device__ bool goes_on() const { return first_ < rows_; }
  __device__ int row() const { return first_ + in_block_; }
  __device__ int next_row() const { return row() + stride_; }

  // Where the current row is; row n and row n + stages are at the same place.
  __device__ int stage() const { return stage_; }

  // Copies of one more row begin.
  __device__ void fetch_next() {
    fetch(free_stage_, first_ahead_ + in_block_);
    first_ahead_ += stride_;
    free_stage_ = after(free_stage_);
  }
  // Until the copies of all rows are there but for the last `running` that have begun.
  __device__ void wait(int running) const {
    static_assert(k_most_stages == 4, "a case for each count; the instruction takes a constant");
    if (running == 0) wait_for_copies<0>();
    if (running == 1) wait_for_copies<1>();
    if (running == 2) wait_for_copies<2>();
    if (running == 3) wait_for_copies<3>();
  }
  __device__ Pack<float, width> pack(int stage, int array, int p) const {
    return floats_of_words<T>(*place(stage, array, p));
  }
  __device__ void store(void* to, int row, int p, const Pack<float, width>& values) const {
    const int begin = columns_.template begin<width>(p);
    if (row >= rows_ || begin >= columns_.hidden) return;
    store_pack(static_cast<T*>(to) + static_cast<int64_t>(row) * hidden_ + begin, rounded<T>(values));
  }
  __device__ void advance() {
    first_ += stride_;
    stage_ = after(stage_);
  }

 private:
  __device__ int after(int stage) const { return stage + 1 == stages_ ? 0 : stage + 1; }
  __device__ uint4* place(int stage, int array, int p) const {
    return memory_ + ((stage * k_stream_arrays + array) * packs + p) * static_cast<int>(blockDim.x);
  }
  // A group of copies for each row, also where there is none.
  __device__ void fetch(int stage, int row) const {
    const bool exists = row < rows_;
    const int64_t offset = exists ? static_cast<int64_t>(row) * hidden_ : 0;
#pragma unroll
    for (int i = 0; i < k_stream_arrays; ++i) {
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        const bool there = exists && columns_.template begin<width>(p) < columns_.hidden;
        copy_async<16>(place(stage, i, p), from_[i] + offset + p * columns_.threads * width, there);
      }
    }
    commit_copies();
  }

  Columns columns_;
  int hidden_, rows_, first_, first_ahead_, in_block_, stride_, stages_;
  int stage_ = 0, free_stage_ = 0;
  uint4* memory_;
  const T* from_[k_stream_arrays];
};

// A parameter's elements for a thread's columns: kept as floats where they are few, else read for each row.
template <class T, int packs>
class KeptParameter {
  static constexpr bool is_kept = packs * k_pack_width<T> <= k_cluster_elements;

 public:
  __device__ KeptParameter(const NormParameter& parameter, const Columns& columns, float absent)
      : parameter_(parameter), columns_(columns), absent_(absent) {
    if constexpr (is_kept) {
#pragma unroll
      for (int p = 0; p < packs; ++p)
        kept_[p] = load_parameter<T>(parameter, columns, p, absent);
    }
  }
  __device__ Pack<float, k_pack_width<T>> pack(int p) const {
    if constexpr (is_kept) {
      return kept_[p];
    } else {
      return load_parameter<T>(parameter_, columns_, p, absent_);
    }
  }

 private:
  NormParameter parameter_;
  Columns columns_;
  float absent_;
  Pack<float, k_pack_width<T>> kept_[is_kept ? packs : 1];
};

}  // namespace dsbuild::ops
