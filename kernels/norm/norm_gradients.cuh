// The gradients that one row gives, for rms_norm and layer_norm (`centred`).
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr int k_other_shared = 1024;  // bytes that a block takes beside its rows or sums, at most

// Which gradients of parameters there are: of the weight, and for layer_norm of the bias.
template <bool centred>
constexpr int k_parameters = centred ? 2 : 1;

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}

// A thread's part of a row and of the gradient that comes in for it, wherever they are.
template <class T, class PartOfRow>
struct RowPair {
  int64_t number;
  Columns columns;
  float mean, rstd;
  PartOfRow input, grad_out;

  __device__ auto normalised(int p) const {
    auto x = input.pack(p, columns);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k)
      x.item[k] = (x.item[k] - mean) * rstd;
    return x;
  }
};

// Where a part's sums for the columns lie.
__device__ inline float* part_of(const NormBackward& a, int parameter, int parts, int part) {
  return a.scratch + (static_cast<int64_t>(parameter) * parts + part) * a.shape.hidden;
}

template <class T, class PartOfRow>
__device__ void store_grad_input(const NormBackward& a, const RowPair<T, PartOfRow>& row, float grad_mean,
                                 float grad_slope, int p) {
  auto values = row.grad_out.pack(p, row.columns);
  const auto weight = load_parameter<T>(a.weight, row.columns, p, 1);
  const auto x = row.normalised(p);
#pragma unroll
  for (int k = 0; k < k_pack_width<T>; ++k)
    values.item[k] = row.rstd * (values.item[k] * weight.item[k] - grad_mean - x.item[k] * grad_slope);
  store_columns(static_cast<T*>(a.grad_input) + row.number * a.shape.hidden, row.columns, p, values);
}

// The mean of g * w * x', and for layer_norm that of g * w: what grad_input needs of the whole row.
template <bool centred, int packs, class T, class PartOfRow>
__device__ Sums<k_parameters<centred>> row_means(const NormBackward& a, const RowPair<T, PartOfRow>& row,
                                                 int turn) {
  auto sums = Sums<k_parameters<centred>>::none();
  for_each_pack<T, packs>(row.columns, [&](int p, int) {
    const auto grad = row.grad_out.pack(p, row.columns);
    const auto weight = load_parameter<T>(a.weight, row.columns, p, 1);
    const auto x = row.normalised(p);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k) {
      const float weighted = grad.item[k] * weight.item[k];
      sums.of[0] += weighted * x.item[k];
      if constexpr (centred) sums.of[1] += weighted;
    }
  });
  sums = merged_in_row(sums, row.columns, turn);
#pragma unroll
  for (int i = 0; i < k_parameters<centred>; ++i)
    sums.of[i] /= static_cast<float>(a.shape.hidden);
  return sums;
}

// g * x' is the row's share of the weight's gradient, g that of the bias's.
template <bool centred, class ColumnSums, class T, class PartOfRow>
__device__ void add_shares(ColumnSums& sums, const RowPair<T, PartOfRow>& row, int p) {
  const auto grad = row.grad_out.pack(p, row.columns);
  auto share = row.normalised(p);
#pragma unroll
  for (int k = 0; k < k_pack_width<T>; ++k)
    share.item[k] *= grad.item[k];
  sums.add(0, p, share);
  if constexpr (centred) sums.add(1, p, grad);
}

}  // namespace dsbuild::ops
