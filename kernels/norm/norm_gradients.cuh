// The gradients that one row gives, for rms_norm and layer_norm (`centred`).
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

// Which gradients of parameters there are: of the weight, and for layer_norm of the bias.
template <bool centred>
constexpr int k_parameters = centred ? 2 : 1;

// What the formulas need of a row besides its elements.
struct Statistics {
  float mean, rstd;
};

// Zeros where there is no row.
template <bool centred, class Row>
__device__ Statistics statistics_of(const NormBackward& a, Row row) {
  if (row >= static_cast<Row>(a.shape.rows)) return {0, 0};
  return {centred ? a.mean[row] : 0, a.rstd[row]};
}

// The sums of one part for the columns.
__device__ inline float* part_of(const NormBackward& a, int parameter, int parts, int part) {
  return a.scratch + (static_cast<int64_t>(parameter) * parts + part) * a.shape.hidden;
}

// x', the normalised input.
template <int width>
__device__ Pack<float, width> normalised_of(const Pack<float, width>& input, const Statistics& statistics) {
  const float shift = -statistics.mean * statistics.rstd;
  Pack<float, width> values;
#pragma unroll
  for (int k = 0; k < width; ++k)
    values.item[k] = input.item[k] * statistics.rstd + shift;
  return values;
}

// x' and g * w: the formulas are made of these.
template <int width>
struct RowTerms {
  Pack<float, width> normalised, weighted;

  RowTerms() = default;
  __device__ RowTerms(const Pack<float, width>& input, const Pack<float, width>& grad_out,
                      const Pack<float, width>& weight, const Statistics& statistics)
      : normalised(normalised_of(input, statistics)) {
#pragma unroll
    for (int k = 0; k < width; ++k)
      weighted.item[k] = grad_out.item[k] * weight.item[k];
  }
  // The row's sums of g * w * x', and for layer_norm of g * w.
  template <int count>
  __device__ void add_to(Sums<count>& sums) const {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      sums.of[0] += weighted.item[k] * normalised.item[k];
      if constexpr (count > 1) sums.of[1] += weighted.item[k];
    }
  }
  // `means`: of these sums.
  template <int count>
  __device__ Pack<float, width> grad_input(const Sums<count>& means, float rstd) const {
    const float slope = means.of[0] * rstd;
    const float level = count > 1 ? means.of[count - 1] * rstd : 0;
    Pack<float, width> values;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const float rest = weighted.item[k] * rstd - level;
      values.item[k] = rest - normalised.item[k] * slope;
    }
    return values;
  }
};

template <int count>
__device__ Sums<count> means_of(const Sums<count>& sums, float one_item) {
  Sums<count> means;
#pragma unroll
  for (int i = 0; i < count; ++i)
    means.of[i] = sums.of[i] * one_item;
  return means;
}

}  // namespace dsbuild::ops
