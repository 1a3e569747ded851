// How a block goes through many rows. A thread has the same columns of each row, so what it needs or adds up
// for these columns stays in its registers. While it works on one row, the next ones are on their way to
// shared memory. A thread reads what it has fetched itself: only the sums over a row need the row's other
// threads.
#pragma once

#include "async_copy.cuh"
#include "norm_stream_plan.cuh"

namespace dsbuild::ops {

// Some of the warps of a block wait for each other; `number`: their own, less than k_most_barriers.
__device__ inline void wait_for_threads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Adds up what the threads of a row have. All get the same bits. Rows use two buffers by turns: a fast warp
// may write the next row's sums while a slow one still reads.
template <int count>
class RowSums {
  using Split = SplitSums<count>;
  using Buffer = float[count][k_warp];  // each warp's sums

 public:
  __device__ RowSums(const RowLayout& layout, const RowPlace& place)
      : warps_(layout.threads / k_warp), threads_(layout.threads), row_(place.row) {
    __shared__ Buffer buffers[2];
    buffers_ = buffers;
  }
  __device__ Sums<count> operator()(const Sums<count>& sums) {
    if (threads_ <= k_warp) return merged_in_lanes(sums, threads_);
    float* const of_warps = buffers_[turn_][Split::own()];
    const float sum = Split::of_warp(sums);
    if (Split::lane() == 0) of_warps[threadIdx.x / k_warp] = sum;
    wait_for_threads(row_ + 1, threads_);
    turn_ ^= 1;
    return Split::of_arrays(of_warps + row_ * warps_, warps_);
  }

 private:
  int warps_, threads_, row_;
  int turn_ = 0;
  Buffer* buffers_;
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
        stage_items_(k_stream_arrays * packs * static_cast<int>(blockDim.x)),
        items_(stages * stage_items_),
        memory_(memory + threadIdx.x),
        first_ahead_(first_) {
#pragma unroll
    for (int i = 0; i < k_stream_arrays; ++i)
      from_[i] = static_cast<const T*>(from[i]);
    for (int stage = 0; stage + 1 < stages; ++stage)
      fetch_next();
  }
  // Is there a row for any thread of the block?
  __device__ bool goes_on() const { return first_ < rows_; }
  __device__ int row() const { return first_ + in_block_; }
  __device__ int next_row() const { return row() + stride_; }

  // Where the current row is; row n and row n + stages are at the same place.
  __device__ int stage() const { return stage_; }

  // Copies of one more row begin: a group of them, also where there is no row.
  __device__ void fetch_next() {
    const int row = first_ahead_ + in_block_;
    const bool exists = row < rows_;
    const int64_t begin = static_cast<int64_t>(row) * hidden_ + columns_.template begin<width>(0);
#pragma unroll
    for (int i = 0; i < k_stream_arrays; ++i) {
#pragma unroll
      for (int p = 0; p < packs; ++p) {
        const bool there = exists && columns_.template begin<width>(p) < columns_.hidden;
        copy_async<16>(place(free_stage_, i, p), from_[i] + begin + p * columns_.threads * width, there);
      }
    }
    commit_copies();
    first_ahead_ += stride_;
    free_stage_ = after(free_stage_);
  }
  // Waits for all groups of copies except the last `running`.
  __device__ void wait(int running) const {
    static_assert(k_most_stages == 4, "a case for each count; the instruction takes a constant");
    if (running == 3) {
      wait_for_copies<3>();
    } else if (running == 2) {
      wait_for_copies<2>();
    } else if (running == 1) {
      wait_for_copies<1>();
    } else {
      wait_for_copies<0>();
    }
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
  // A stage is named by its first item in memory.
  __device__ int after(int stage) const {
    const int next = stage + stage_items_;
    return next == items_ ? 0 : next;
  }
  __device__ uint4* place(int stage, int array, int p) const {
    return memory_ + stage + (array * packs + p) * static_cast<int>(blockDim.x);
  }

  Columns columns_;
  int hidden_, rows_, first_, in_block_, stride_, stage_items_, items_;
  int stage_ = 0, free_stage_ = 0;
  uint4* memory_;
  int first_ahead_;  // whose copies begin next
  const T* from_[k_stream_arrays];
};

// A parameter's elements for a thread's columns: kept as floats where they are few, else read for each row.
// For the many rows of a thread that is better than ParameterWords, which take fewer registers.
template <class T, int packs>
class ParameterFloats {
  static constexpr bool is_kept = packs * k_pack_width<T> <= k_cluster_elements;

 public:
  __device__ ParameterFloats(const NormParameter& parameter, const Columns& columns, float absent)
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
