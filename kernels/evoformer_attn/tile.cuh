// What the attention kernels share: a block of four warps has 64 rows of the scores, a warp 16 of them, and
// walks over tiles of 64 rows of the other matrices in shared memory.
#pragma once

#include "evoformer_attn.h"
#include "family.cuh"

namespace dsbuild::ops {

constexpr int k_warps = 4;
constexpr int k_threads = k_warps * k_warp;
constexpr int k_steps = k_tile / k_step;
constexpr int k_pack = 8;  // elements of a 16-byte copy
static_assert(k_tile == k_warps * k_step, "a warp has one step's rows");

// So few registers that so many blocks share a multiprocessor; kernels with two sums of rows need more of
// them.
template <int dim>
constexpr int k_blocks_per_sm = dim <= 32 ? 4 : 3;
template <int dim>
constexpr int k_blocks_of_two_sums = dim <= 32 ? 4 : 2;

constexpr float k_log2_e = 1.44269504088896341f;
constexpr float k_ln_2 = 0.693147180559945309f;

__device__ inline int warp_id() {
  return static_cast<int>(threadIdx.x) / k_warp;
}

__device__ inline float exp2_of(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

template <class Memory>
__device__ Memory& shared_memory() {
  extern __shared__ __align__(16) unsigned char bytes[];
  return *reinterpret_cast<Memory*>(bytes);
}

// Which part a block of a one-dimensional grid has: tiles fastest, then heads, then the outermost.
struct Place {
  int tile;
  int head;
  int64_t outer;  // of batch × rows, or of batch

  __device__ Place(int tiles, int heads)
      : tile(static_cast<int>(blockIdx.x) % tiles),
        head(static_cast<int>(blockIdx.x) / tiles % heads),
        outer(static_cast<int>(blockIdx.x) / tiles / heads) {}
};

// One head's matrix of `count` rows of `width` elements.
template <class T>
struct Rows {
  T* first;
  int64_t stride;
  int count;
  int width;
};

// Of an array [batch × rows, count, heads, head_dim].
template <class T>
__device__ Rows<const T> rows_of(const void* array, const EvoformerShape& s, int count, int64_t batch_row,
                                 int head) {
  const int64_t stride = static_cast<int64_t>(s.heads) * s.head_dim;
  return {static_cast<const T*>(array) + batch_row * count * stride + head * s.head_dim, stride, count,
          s.head_dim};
}
template <class T>
__device__ Rows<T> rows_of(void* array, const EvoformerShape& s, int count, int64_t batch_row, int head) {
  const Rows<const T> rows = rows_of<T>(static_cast<const void*>(array), s, count, batch_row, head);
  return {const_cast<T*>(rows.first), rows.stride, rows.count, rows.width};
}

// The padding puts the rows that are read at once into different banks.
template <class T, int dim>
struct Tile {
  static constexpr int stride = dim + k_pack;
  alignas(16) T item[k_tile * stride];

  // Where the 16×16 operand (row, column) of the tile begins.
  __device__ const T* operand(int row, int column) const { return item + (row * stride + column) * k_step; }
};

template <class Family, class T, int dim>
__device__ void copy_tile(Tile<T, dim>& to, const Rows<const T>& from, int tile) {
  constexpr int packs = dim / k_pack;
  constexpr int rows_at_once = k_threads / packs;
  const int row = static_cast<int>(threadIdx.x) / packs;
  const int column = static_cast<int>(threadIdx.x) % packs * k_pack;
  const int rows_there = column < from.width ? from.count - tile * k_tile : 0;
  const T* source = from.first + (static_cast<int64_t>(tile) * k_tile + row) * from.stride + column;
  T* target = to.item + row * Tile<T, dim>::stride + column;
#pragma unroll
  for (int i = 0; i < k_tile; i += rows_at_once) {
    const bool there = row + i < rows_there;
    Family::template copy<16>(target + i * Tile<T, dim>::stride, there ? source : from.first, there);
    source += rows_at_once * from.stride;
  }
}

// The same for rows that begin at any element.
template <class T, int dim>
__device__ void copy_elements(Tile<T, dim>& to, const Rows<const T>& from, int tile) {
  constexpr int rows_at_once = k_threads / dim;
  const int column = static_cast<int>(threadIdx.x) % dim;
#pragma unroll 8
  for (int i = static_cast<int>(threadIdx.x) / dim; i < k_tile; i += rows_at_once) {
    const int row = tile * k_tile + i;
    const bool there = row < from.count && column < from.width;
    to.item[i * Tile<T, dim>::stride + column] = there ? from.first[row * from.stride + column] : T{};
  }
}

// The warp's rows of one tile as left operands, by way of `through`.
template <class Family, class T, int dim>
__device__ void load_rows(typename Family::Left (&rows)[dim / k_step], Tile<T, dim>& through,
                          const Rows<const T>& from, int tile) {
  copy_tile<Family>(through, from, tile);
  Family::commit();
  Family::template wait<0>();
  __syncthreads();
#pragma unroll
  for (int d = 0; d < dim / k_step; ++d)
    rows[d] = Family::left(through.operand(warp_id(), d), Tile<T, dim>::stride);
  __syncthreads();
}

// For each tile: load(tile, stage) starts its copies, work(tile, stage) uses it.
template <class Family, class Load, class Work>
__device__ void for_each_tile(int count, const Load& load, const Work& work) {
  if (count > 0) load(0, 0);
  for (int tile = 0; tile < count; ++tile) {
    const bool more = tile + 1 < count;
    if (Family::stages > 1 && more) {
      load(tile + 1, (tile + 1) % Family::stages);
      Family::template wait<1>();
    } else {
      Family::template wait<0>();
    }
    __syncthreads();
    work(tile, tile % Family::stages);
    __syncthreads();
    if (Family::stages == 1 && more) load(tile + 1, 0);
  }
}

// sum += left rows × all columns of the step's 16 rows of the tile.
template <class Family, class T, int dim>
__device__ void multiply_rows(Accumulators (&sum)[dim / k_step], const typename Family::Left& left,
                              const Tile<T, dim>& tile, int step) {
#pragma unroll
  for (int d = 0; d < dim / k_step; ++d)
    Family::template multiply<T>(sum[d], left, Family::right(tile.operand(step, d), Tile<T, dim>::stride));
}

// sum += left rows × the step's 16 rows of the tile, transposed.
template <class Family, class T, int dim>
__device__ void multiply_transposed(Accumulators& sum, const typename Family::Left (&left)[dim / k_step],
                                    const Tile<T, dim>& tile, int step) {
#pragma unroll
  for (int d = 0; d < dim / k_step; ++d)
    Family::template multiply<T>(sum, left[d],
                                 Family::right_transposed(tile.operand(step, d), Tile<T, dim>::stride));
}

// Over the lanes that share a row of accumulators.
template <class Family>
__device__ float row_sum(float value) {
  value += __shfl_xor_sync(k_all_lanes, value, Family::mate1);
  return value + __shfl_xor_sync(k_all_lanes, value, Family::mate2);
}

template <class Family>
__device__ float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(k_all_lanes, value, Family::mate1));
  return fmaxf(value, __shfl_xor_sync(k_all_lanes, value, Family::mate2));
}

// Where a lane's accumulators of a warp's 16 rows lie in the tile.
template <class Family>
__device__ int own_row(int slot) {
  return warp_id() * k_step + Family::first_row() + Family::row_distance * slot;
}
template <class Family>
__device__ int own_column(int step, int pair) {
  return step * k_step + Family::first_column() + Family::column_distance * pair;
}

// The warp's rows of one tile, each times its factor.
template <class Family, class T, int steps>
__device__ void store_rows(const Rows<T>& to, int tile, const Accumulators (&from)[steps],
                           const float (&factor)[2]) {
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int row = tile * k_tile + own_row<Family>(slot);
    if (row >= to.count) continue;
#pragma unroll
    for (int d = 0; d < steps; ++d) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const int column = own_column<Family>(d, pair);
        if (column >= to.width) continue;
        const float low = from[d].at(pair, slot, 0) * factor[slot];
        const float high = from[d].at(pair, slot, 1) * factor[slot];
        *reinterpret_cast<uint32_t*>(to.first + row * to.stride + column) = rounded_pair<T>(low, high);
      }
    }
  }
}

}  // namespace dsbuild::ops
