// The forward pass, for rms_norm and layer_norm (`centred`).
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_forward_limits{256, {0, 256, 512}, 1024};

// Of a block; few enough that each has the registers it needs.
constexpr int most_forward_threads(int packs) {
  if (packs == 0) return k_forward_limits.memory_threads;
  return packs == 1 ? k_forward_limits.warp_block : k_forward_limits.most_threads[packs / 2];
}

// Blocks that a multiprocessor's registers must be enough for, or nothing is read while one block adds up.
constexpr int least_forward_blocks(int packs) {
  return packs == 4 ? 2 : 1;
}

struct Moments {
  float mean, variance;
};

constexpr float k_far = 16;

// The sums of what is left of the row's items beside `shift`, and of its squares.
template <class T, int packs>
__device__ Sums<2> sums_beside(float shift, const Row<T, packs>& row, const Columns& columns, int turn) {
  auto sums = Sums<2>::none();
  for_each_pack<T, packs>(columns, [&](int p, int begin) {
    if (packs > 0 && begin >= columns.hidden) return;
    const auto x = row.pack(p, columns);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k) {
      const bool is_there = packs > 0 || columns.has(begin, k);
      const float difference = is_there ? x.item[k] - shift : 0;
      sums.of[0] += difference;
      sums.of[1] += difference * difference;
    }
  });
  return merged_in_row(sums, columns, turn);
}

inline __device__ Moments moments_beside(float shift, const Sums<2>& sums, float hidden) {
  const float rest = sums.of[0] / hidden;
  const float variance = sums.of[1] / hidden - rest * rest;
  return {shift + rest, variance < 0 ? 0 : variance};
}

// In one pass beside the row's first item, which is as near to the mean as any. Where that is so far off that
// the difference of the squares would lose bits, in a second one beside the mean that the first has found:
// what rounding has left in that mean is corrected, and its square taken from the variance.
template <class T, int packs>
__device__ Moments moments_of(float first, const Row<T, packs>& row, const Columns& columns, float hidden) {
  const Moments found = moments_beside(first, sums_beside(first, row, columns, 0), hidden);
  const float rest = found.mean - first;
  const bool is_far = rest * rest > k_far * found.variance;
  if (!__any_sync(k_all_lanes, is_far)) return found;  // of a block's row all threads say the same
  return moments_beside(found.mean, sums_beside(found.mean, row, columns, 1), hidden);
}

// The row's first item.
template <class T, int packs>
__device__ float first_of(const T* input, const Row<T, packs>& row, const Columns& columns) {
  if (packs > 0 && columns.threads <= k_warp)
    return __shfl_sync(k_all_lanes, row.pack(0, columns).item[0], 0, columns.threads);
  return columns.hidden > 0 ? to_float(*input) : 0;
}

template <class T, int packs>
__device__ float mean_square(const Row<T, packs>& row, const Columns& columns, float hidden) {
  auto sums = Sums<1>::none();
  for_each_pack<T, packs>(columns, [&](int p, int) {
    const auto x = row.pack(p, columns);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k)
      sums.of[0] += x.item[k] * x.item[k];
  });
  return merged_in_row(sums, columns, 0).of[0] / hidden;
}

template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_forward_threads(packs), least_forward_blocks(packs))
    norm_forward_kernel(const NormForward a, const RowLayout layout) {
  constexpr int width = k_pack_width<T>;
  const int64_t number = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block + row_in_block(layout);
  const bool exists = number < a.shape.rows;
  const Columns columns = own_columns<packs>(layout, exists ? a.shape.hidden : 0);
  const int64_t begin = number * a.shape.hidden;
  Row<T, packs> row;
  row.begin_at(static_cast<const T*>(a.input) + begin, columns);
  const float hidden = static_cast<float>(a.shape.hidden);
  Moments moments;
  if constexpr (centred) {
    moments =
        moments_of(first_of(static_cast<const T*>(a.input) + begin, row, columns), row, columns, hidden);
  } else {
    moments = {0, mean_square(row, columns, hidden)};
  }
  const float rstd = 1 / sqrtf(moments.variance + a.eps);
  T* __restrict__ out = static_cast<T*>(a.out) + begin;
  for_each_pack<T, packs>(columns, [&](int p, int) {
    auto values = row.pack(p, columns);
    const auto weight = load_parameter<T>(a.weight, columns, p, 1);
#pragma unroll
    for (int k = 0; k < width; ++k)
      values.item[k] = (values.item[k] - moments.mean) * rstd * weight.item[k];
    if constexpr (centred) {
      const auto bias = load_parameter<T>(a.bias, columns, p, 0);
#pragma unroll
      for (int k = 0; k < width; ++k)
        values.item[k] += bias.item[k];
    }
    store_columns(out, columns, p, values);
  });
  if (columns.thread != 0 || !exists) return;
  a.rstd[number] = rstd;
  if constexpr (centred) a.mean[number] = moments.mean;
}

template <bool centred, class T>
cudaError_t launch_forward_of_type(const NormForward& a, cudaStream_t stream) {
  const bool aligned =
      a.shape.hidden % k_pack_width<T> == 0 && all_aligned({a.input, a.weight.data, a.bias.data, a.out});
  const RowLayout layout = row_layout(a.shape.hidden, k_pack_width<T>, k_forward_limits, aligned);
  const int64_t blocks = ceil_div(a.shape.rows, layout.rows_of_block);
  if (blocks == 0) return cudaSuccess;
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  return with_packs(layout.packs, [&](auto packs) {
    norm_forward_kernel<centred, T, decltype(packs)::value>
        <<<static_cast<unsigned>(blocks), layout.block_threads, 0, stream>>>(a, layout);
    return cudaGetLastError();
  });
}

template <bool centred>
cudaError_t launch_forward(const NormForward& a, cudaStream_t stream) {
  return with_type(a.shape.type,
                   [&](auto value) { return launch_forward_of_type<centred, decltype(value)>(a, stream); });
}

}  // namespace dsbuild::ops
