// How threads share a row, and how they read and write it, in packs of 16 bytes: what the kernels of rms_norm
// and layer_norm have in common.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "ceil_div.h"
#include "low_precision.cuh"
#include "merge.cuh"
#include "norm.h"

namespace dsbuild::ops {

constexpr int k_most_int_rows = 1 << 30;  // more rows have kernels that number them by 64 bits

// Elements of a pack.
template <class T>
constexpr int k_pack_width = 16 / sizeof(T);

// How the rows lie on threads.
struct RowLayout {
  int packs;    // of a thread; 0: as many as it takes
  int threads;  // of a row: a power of two within a warp, or whole warps
  int block_threads, rows_of_block;
  bool aligned;  // all arrays allow whole packs
};

struct LayoutLimits {
  int block_threads;   // of a block whose warps have rows of their own
  int memory_threads;  // of a block that has one row
};

inline RowLayout layout_on_lanes(int packs, int64_t least_threads, int block_threads, bool aligned = true) {
  int threads = 1;
  while (threads < least_threads && threads < k_warp)
    threads *= 2;
  return {packs, threads, block_threads, block_threads / threads, aligned};
}

inline RowLayout layout_on_block(int packs, int64_t least_threads, bool aligned = true) {
  const int threads = static_cast<int>(ceil_div(least_threads, k_warp)) * k_warp;
  return {packs, threads, threads, 1, aligned};
}

// For rows of any length and alignment: lanes of a warp share a row, or a block does.
inline RowLayout memory_layout(int hidden, int width, const LayoutLimits& limits, bool aligned) {
  const int64_t row_packs = ceil_div(hidden, width);
  if (row_packs <= 4 * k_warp) return layout_on_lanes(0, hidden, limits.block_threads, aligned);
  return layout_on_block(0, std::min<int64_t>(row_packs, limits.memory_threads), aligned);
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

// Is the parameter there, and of the input's type T?
template <class T>
__device__ bool is_of_type(const NormParameter& parameter) {
  return parameter.data != nullptr && parameter.float32 == (sizeof(T) == sizeof(float));
}

// Of aligned columns. Zeros where there is none.
template <class T>
__device__ uint4 load_words(const T* row, const Columns& columns, int pack, bool exists = true) {
  const int begin = columns.begin<k_pack_width<T>>(pack);
  return exists && begin < columns.hidden ? __ldg(reinterpret_cast<const uint4*>(row + begin)) : uint4{};
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
  return floats_of_words<T>(load_words(items, columns, pack));
}

// A thread's part of an aligned row, in whole registers: compilers would give each item of 16 bits one of its
// own, or keep floats.
template <class T, int packs>
class RowWords {
 public:
  __device__ void load(const T* row, const Columns& columns, bool exists = true) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      words_[p] = load_words(row, columns, p, exists);
  }
  __device__ Pack<float, k_pack_width<T>> pack(int p) const {
    uint4 words = words_[p];
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    return floats_of_words<T>(words);
  }

 private:
  uint4 words_[packs];
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

// Which row of the block a thread belongs to, and which of its threads it is.
struct RowPlace {
  int row, thread;

  __device__ explicit RowPlace(const RowLayout& layout) {
    const int number = static_cast<int>(threadIdx.x);
    row = layout.threads <= k_warp    ? number >> (__ffs(layout.threads) - 1)
          : layout.rows_of_block == 1 ? 0
                                      : number / layout.threads;
    thread = number - row * layout.threads;
  }
};

template <int packs>
__device__ Columns own_columns(const RowLayout& layout, const RowPlace& place, int hidden) {
  return {hidden, place.thread, layout.threads, packs > 0 || layout.aligned};
}

}  // namespace dsbuild::ops
