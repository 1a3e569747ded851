// The gradients that one row gives, for rms_norm and layer_norm (`centred`).
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

// Which gradients of parameters there are: of the weight, and for layer_norm of the bias.
template <bool centred>
constexpr int k_parameters = centred ? 2 : 1;

// Of a row: what is needed beside its elements.
struct Statistics {
  float mean, rstd;
};

// Zeros where there is no row.
template <bool centred, class Row>
__device__ Statistics statistics_of(const NormBackward& a, Row row) {
  if (row >= static_cast<Row>(a.shape.rows)) return {0, 0};
  return {centred ? a.mean[row] : 0, a.rstd[row]};
}

// Where a part's sums for the columns lie.
__device__ inline float* part_of(const NormBackward& a, int parameter, int parts, int part) {
  return a.scratch + (static_cast<int64_t>(parameter) * parts + part) * a.shape.hidden;
}

// x, x' (normalised), and g * w: what the formulas are made of.
template <int width>
struct RowTerms {
  Pack<float, width> input, normalised, weighted;

  RowTerms() = default;
  __device__ RowTerms(const Pack<float, width>& x, const Pack<float, width>& grad_out,
                      const Pack<float, width>& weight, const Statistics& statistics)
      : input(x) {
    const float shift = -statistics.mean * statistics.rstd;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      normalised.item[k] = input.item[k] * statistics.rstd + shift;
      weighted.item[k] = grad_out.item[k] * weight.item[k];
    }
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
  // (g * w - m1 - x' * m0) * rstd with the means m0 and m1 of these sums; x' written out, so that an item
  // takes two instructions.
  template <int count>
  __device__ Pack<float, width> grad_input(const Sums<count>& means, const Statistics& statistics) const {
    const float rstd = statistics.rstd;
    const float slope = -means.of[0] * rstd * rstd;
    const float level = -slope * statistics.mean - (count > 1 ? means.of[count - 1] * rstd : 0);
    Pack<float, width> values;
#pragma unroll
    for (int k = 0; k < width; ++k)
      values.item[k] = weighted.item[k] * rstd + (input.item[k] * slope + level);
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
