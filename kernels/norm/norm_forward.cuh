// The forward pass, for rms_norm and layer_norm (`centred`).
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_forward_limits{256, {0, 512, 640}, 1024};

// Of a block; few enough that each has the registers it needs.
constexpr int most_forward_threads(int packs) {
  if (packs == 0) return k_forward_limits.memory_threads;
  return packs == 1 ? k_forward_limits.warp_block : k_forward_limits.most_threads[packs / 2];
}

struct Moments {
  float mean, variance;
};

// In two passes: the mean, then the mean square of what is left. What rounding has left in the mean is the
// mean of the differences; it is added to the mean and its square taken from the variance.
template <bool centred, class T, int packs>
__device__ Moments moments_of(const Row<T, packs>& row, const Columns& columns, float hidden) {
  float mean = 0;
  if constexpr (centred) {
    Sums<1> total = Sums<1>::none();
    for_each_pack<T, packs>(columns, [&](int p, int) {
      const auto x = row.pack(p, columns);
#pragma unroll
      for (int k = 0; k < k_pack_width<T>; ++k)
        total.of[0] += x.item[k];
    });
    mean = merged_in_row(total, columns, 0).of[0] / hidden;
  }
  constexpr int sum_count = centred ? 2 : 1;
  auto sums = Sums<sum_count>::none();
  for_each_pack<T, packs>(columns, [&](int p, int begin) {
    const auto x = row.pack(p, columns);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k) {
      const float difference = centred && !columns.has(begin, k) ? 0 : x.item[k] - mean;
      sums.of[0] += difference * difference;
      if constexpr (centred) sums.of[1] += difference;
    }
  });
  sums = merged_in_row(sums, columns, 0);
  const float square = sums.of[0] / hidden;
  if constexpr (!centred) return {0, square};
  const float rest = sums.of[sum_count - 1] / hidden;
  const float variance = square - rest * rest;
  return {mean + rest, variance < 0 ? 0 : variance};
}

template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_forward_threads(packs))
    norm_forward_kernel(const NormForward a, const RowLayout layout) {
  constexpr int width = k_pack_width<T>;
  const int64_t number = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block + row_in_block(layout);
  const bool exists = number < a.shape.rows;
  const Columns columns = own_columns<packs>(layout, exists ? a.shape.hidden : 0);
  const int64_t begin = number * a.shape.hidden;
  Row<T, packs> row;
  row.begin_at(static_cast<const T*>(a.input) + begin, columns);
  const Moments moments = moments_of<centred>(row, columns, static_cast<float>(a.shape.hidden));
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
