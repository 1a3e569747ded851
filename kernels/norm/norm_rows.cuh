// How threads share a row, and how they read and write it: what the kernels of rms_norm and layer_norm have
// in common. A thread owns packs of 16 bytes, which stay in registers from the first look at the row to the
// last, so that memory is read once; rows that are too long for that are read anew at each look, mostly from
// a cache.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "ceil_div.h"
#include "low_precision.cuh"
#include "merge.cuh"
#include "norm.h"

namespace dsbuild::ops {

// Elements of a pack.
template <class T>
constexpr int k_pack_width = 16 / sizeof(T);

// How the rows lie on threads.
struct RowLayout {
  int packs;    // of a thread; 0: they are not kept in registers
  int threads;  // of a row: a power of two within a warp, or the whole block
  int block_threads, rows_of_block;
  bool aligned;  // all arrays allow whole packs; so it is where packs are kept in registers
};

struct LayoutLimits {
  int warp_block;       // threads of a block whose warps have rows of their own
  int most_threads[3];  // of a block per row, with 1, 2 and 4 packs each; 0: that is not used
  int memory_threads;   // of a block whose row is not in registers
};

inline RowLayout layout_on_lanes(int packs, int64_t least_threads, const LayoutLimits& limits, bool aligned) {
  int threads = 1;
  while (threads < least_threads)
    threads *= 2;
  return {packs, threads, limits.warp_block, limits.warp_block / threads, aligned};
}

inline RowLayout layout_on_block(int packs, int64_t least_threads, bool aligned) {
  const int threads = static_cast<int>(ceil_div(least_threads, k_warp)) * k_warp;
  return {packs, threads, threads, 1, aligned};
}

// For rows that are not kept in registers.
inline RowLayout memory_layout(int hidden, int width, const LayoutLimits& limits, bool aligned) {
  const int64_t row_packs = ceil_div(hidden, width);
  if (row_packs <= 4 * k_warp) return layout_on_lanes(0, std::min(hidden, k_warp), limits, aligned);
  return layout_on_block(0, std::min<int64_t>(row_packs, limits.memory_threads), aligned);
}

inline RowLayout row_layout(int hidden, int width, const LayoutLimits& limits, bool aligned) {
  if (!aligned) return memory_layout(hidden, width, limits, aligned);
  const int64_t row_packs = ceil_div(hidden, width);
  for (const int packs : {1, 2, 4}) {
    if (row_packs <= packs * k_warp) return layout_on_lanes(packs, ceil_div(row_packs, packs), limits, true);
  }
  for (const int log2 : {0, 1, 2}) {
    const int64_t threads = ceil_div(row_packs, int64_t{1} << log2);
    if (threads <= limits.most_threads[log2]) return layout_on_block(1 << log2, threads, true);
  }
  return memory_layout(hidden, width, limits, true);
}

inline bool all_aligned(std::initializer_list<const void*> arrays) {
  uintptr_t bits = 0;
  for (const void* array : arrays)
    bits |= reinterpret_cast<uintptr_t>(array);
  return bits % 16 == 0;
}

// The columns that a thread has. Of aligned rows a pack is neighbouring columns; of others its items lie as
// far apart as the row has threads, so that neighbouring threads read neighbouring elements.
struct Columns {
  int hidden;  // columns that there are; 0 where the thread has no row
  int thread, threads;
  bool aligned;

  template <int width>
  __device__ int begin(int pack) const {
    return aligned ? (pack * threads + thread) * width : pack * threads * width + thread;
  }
  __device__ int step() const { return aligned ? 1 : threads; }
  // Is there item k of a pack that begins at this column?
  __device__ bool has(int begin, int k) const { return k * step() < hidden - begin; }
};

// Of memory that the kernel does not write to. 0 where there is no column.
template <int width, class T>
__device__ Pack<T, width> load_columns(const T* row, const Columns& columns, int pack) {
  Pack<T, width> items{};
  const int begin = columns.begin<width>(pack);
  if (columns.aligned) {
    if (begin < columns.hidden) items = load_constant_pack<width>(row + begin);
    return items;
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (columns.has(begin, k)) items.item[k] = row[begin + k * columns.threads];
  }
  return items;
}

template <int width, class T>
__device__ void store_columns(T* row, const Columns& columns, int pack, const Pack<float, width>& values) {
  const Pack<T, width> items = rounded<T>(values);
  const int begin = columns.begin<width>(pack);
  if (columns.aligned) {
    if (begin < columns.hidden) store_pack(row + begin, items);
    return;
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (columns.has(begin, k)) row[begin + k * columns.threads] = items.item[k];
  }
}

// Of the input's type T or float32; `absent` everywhere where there is none.
template <class T>
__device__ Pack<float, k_pack_width<T>> load_parameter(const NormParameter& parameter, const Columns& columns,
                                                       int pack, float absent) {
  constexpr int width = k_pack_width<T>;
  if (parameter.data == nullptr) {
    Pack<float, width> values;
#pragma unroll
    for (int k = 0; k < width; ++k)
      values.item[k] = absent;
    return values;
  }
  if (parameter.float32) return load_columns<width>(static_cast<const float*>(parameter.data), columns, pack);
  const T* const items = static_cast<const T*>(parameter.data);
  if (!columns.aligned) return floats_of(load_columns<width>(items, columns, pack));
  const int begin = columns.begin<width>(pack);
  const uint4 none{};
  return floats_of_words<T>(begin < columns.hidden ? __ldg(reinterpret_cast<const uint4*>(items + begin))
                                                   : none);
}

// A thread's part of a row, in whole registers: compilers would give each item of 16 bits one of its own, or
// keep floats.
template <class T, int packs>
class Row {
 public:
  __device__ void begin_at(const T* row, const Columns& columns) {
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto items = load_columns<k_pack_width<T>>(row, columns, p);
      memcpy(&words_[p], &items, sizeof items);
    }
  }
  __device__ Pack<float, k_pack_width<T>> pack(int p, const Columns&) const {
    uint4 words = words_[p];
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    return floats_of_words<T>(words);
  }

 private:
  uint4 words_[packs];
};

template <class T>
class Row<T, 0> {
 public:
  __device__ void begin_at(const T* row, const Columns&) { row_ = row; }
  __device__ Pack<float, k_pack_width<T>> pack(int p, const Columns& columns) const {
    return floats_of(load_columns<k_pack_width<T>>(row_, columns, p));
  }

 private:
  const T* row_;
};

// Calls `visit` with the number of each pack of the thread and the column it begins at.
template <class T, int packs, class Visit>
__device__ void for_each_pack(const Columns& columns, const Visit& visit) {
  constexpr int width = k_pack_width<T>;
  if constexpr (packs > 0) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      visit(p, columns.begin<width>(p));
  } else {
#pragma unroll 2
    for (int p = 0; columns.begin<width>(p) < columns.hidden; ++p)
      visit(p, columns.begin<width>(p));
  }
}

// Of all threads of a row; `turn` as merged_in_block has it.
template <int count>
__device__ Sums<count> merged_in_row(const Sums<count>& sums, const Columns& columns, int turn) {
  return columns.threads <= k_warp ? merged_in_lanes(sums, columns.threads) : merged_in_block(sums, turn);
}

// Which row of the block a thread belongs to.
__device__ inline int row_in_block(const RowLayout& layout) {
  return layout.threads <= k_warp ? static_cast<int>(threadIdx.x) >> (__ffs(layout.threads) - 1) : 0;
}

template <int packs>
__device__ Columns own_columns(const RowLayout& layout, int hidden) {
  const int thread = static_cast<int>(threadIdx.x);
  return {hidden, layout.threads <= k_warp ? thread & (layout.threads - 1) : thread, layout.threads,
          packs > 0 || layout.aligned};
}

// Calls `work` with the number of packs as a constant.
template <class Work>
auto with_packs(int packs, const Work& work) {
  if (packs == 1) return work(std::integral_constant<int, 1>{});
  if (packs == 2) return work(std::integral_constant<int, 2>{});
  if (packs == 4) return work(std::integral_constant<int, 4>{});
  return work(std::integral_constant<int, 0>{});
}

}  // namespace dsbuild::ops
