// The forward pass for rows that a warp's lanes keep in registers. A thread has a part of several rows:
// enough is on its way, and the parameters of its columns are read once for all of them.
#pragma once

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr int k_lanes_block = 64;   // threads of a block whose warps have rows of their own
constexpr int k_lanes_blocks = 16;  // of those, on a multiprocessor

// Rows that a thread has a part of: with more of the longer ones it needs more registers than there are.
template <int packs>
constexpr int k_lanes_rows = packs == 1 ? 4 : 1;

// x * rstd * weight + bias, with a bias for layer_norm alone.
template <bool centred, int width>
__device__ Pack<float, width> scaled(const Pack<float, width>& x, float rstd,
                                     const Pack<float, width>& weight, const Pack<float, width>& bias) {
  Pack<float, width> values;
#pragma unroll
  for (int k = 0; k < width; ++k)
    values.item[k] = x.item[k] * rstd * weight.item[k] + (centred ? bias.item[k] : 0);
  return values;
}

template <bool centred>
__device__ void store_statistics(const NormForward& a, int64_t row, float mean, float rstd) {
  a.rstd[row] = rstd;
  if constexpr (centred) a.mean[row] = mean;
}

// A parameter's elements for a thread's columns: from registers where they are of the input's type.
template <class T, int packs>
class ParameterWords {
 public:
  __device__ ParameterWords(const NormParameter& parameter, const Columns& columns, float absent)
      : parameter_(parameter), columns_(columns), absent_(absent), has_words_(is_of_type<T>(parameter)) {
    if (has_words_) words_.load(static_cast<const T*>(parameter.data), columns);
  }
  __device__ Pack<float, k_pack_width<T>> pack(int p) const {
    return has_words_ ? words_.pack(p) : load_parameter<T>(parameter_, columns_, p, absent_);
  }

 private:
  NormParameter parameter_;
  Columns columns_;
  float absent_;
  bool has_words_;
  RowWords<T, packs> words_;
};

// Some rows of a warp's lanes, as floats.
template <class T, int packs, int rows>
struct LaneRows {
  static constexpr int width = k_pack_width<T>;
  Pack<float, width> of[rows][packs];

  // Means of `term` of each item, over the row. What is behind the row's end is 0, and stays so.
  template <class Term>
  __device__ Sums<rows> means(float one_item, const Columns& columns, const Term& term) const {
    Sums<rows> sums;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
#pragma unroll
      for (int i = 0; i < packs * width; ++i) {
        const float value = term(of[row][i / width].item[i % width]);
        sums.of[row] = i == 0 ? value : sums.of[row] + value;
      }
    }
    sums = merged_in_lanes(sums, columns.threads);
#pragma unroll
    for (int row = 0; row < rows; ++row)
      sums.of[row] *= one_item;
    return sums;
  }
  __device__ Sums<rows> mean_squares(float one_item, const Columns& columns) const {
    return means(one_item, columns, [](float item) { return item * item; });
  }
  // Subtracts the rows' means, which it returns.
  __device__ Sums<rows> centre(float one_item, const Columns& columns) {
    const auto found = means(one_item, columns, [](float item) { return item; });
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const bool is_there = columns.begin<width>(p) < columns.hidden;
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const float mean = is_there ? found.of[row] : 0;
#pragma unroll
        for (int k = 0; k < width; ++k)
          of[row][p].item[k] -= mean;
      }
    }
    return found;
  }
};

constexpr float k_far_mean = 65536;  // its square beside the variance

// Of layer_norm: subtracts the means; where one is so large that its rounding is seen in the variance, what
// is left of it too.
template <class T, int packs, int rows>
__device__ void centre_rows(LaneRows<T, packs, rows>& x, Sums<rows>& means, Sums<rows>& variances,
                            float one_item, const Columns& columns) {
  means = x.centre(one_item, columns);
  variances = x.mean_squares(one_item, columns);
  bool is_far = false;
#pragma unroll
  for (int row = 0; row < rows; ++row)
    is_far |= means.of[row] * means.of[row] > k_far_mean * variances.of[row];
  if (!__any_sync(k_all_lanes, is_far)) return;
  means.merge(x.centre(one_item, columns));
  variances = x.mean_squares(one_item, columns);
}

// For rows that a warp has, each on so many of its lanes (0: as many as the layout says): a thread has a part
// of several rows, so that enough is on its way. A warp's rows follow each other.
template <bool centred, class T, int packs, int constant_lanes>
__global__ void __launch_bounds__(k_lanes_block, k_lanes_blocks)
    norm_forward_lanes_kernel(const NormForward a, const RowLayout layout, float one_item) {
  constexpr int rows = k_lanes_rows<packs>;
  constexpr int width = k_pack_width<T>;
  const unsigned lanes = constant_lanes > 0 ? constant_lanes : static_cast<unsigned>(layout.threads);
  const unsigned lane = threadIdx.x % k_warp;
  const int groups = static_cast<int>(k_warp / lanes);
  const int group = static_cast<int>(lane / lanes);
  const Columns columns{a.shape.hidden, static_cast<int>(lane % lanes), static_cast<int>(lanes), true};
  const int warp = static_cast<int>(blockIdx.x * (k_lanes_block / k_warp) + threadIdx.x / k_warp);
  const int first_row = warp * groups * rows + group;
  const int row_count = static_cast<int>(a.shape.rows) - first_row;  // of the lane's, from the first on
  const int64_t first_item = static_cast<int64_t>(first_row) * a.shape.hidden;
  const ParameterWords<T, packs> weight(a.weight, columns, 1);
  const ParameterWords<T, packs> bias(a.bias, columns, 0);
  RowWords<T, packs> words[rows];
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const T* const row = static_cast<const T*>(a.input) + first_item + i * groups * a.shape.hidden;
    words[i].load(row, columns, i * groups < row_count);
  }
  LaneRows<T, packs, rows> x;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int p = 0; p < packs; ++p)
      x.of[i][p] = words[i].pack(p);
  }
  auto means = Sums<rows>::none();
  Sums<rows> rstd;
  if constexpr (centred) {
    centre_rows(x, means, rstd, one_item, columns);
  } else {
    rstd = x.mean_squares(one_item, columns);
  }
#pragma unroll
  for (int i = 0; i < rows; ++i)
    rstd.of[i] = rsqrtf(rstd.of[i] + a.eps);
#pragma unroll
  for (int p = 0; p < packs; ++p) {
    const auto weights = weight.pack(p);
    const auto biases = bias.pack(p);
    const int begin = columns.begin<width>(p);
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      T* const out = static_cast<T*>(a.out) + first_item + i * groups * a.shape.hidden + begin;
      const auto values = rounded<T>(scaled<centred>(x.of[i][p], rstd.of[i], weights, biases));
      if (i * groups < row_count && begin < a.shape.hidden) store_pack(out, values);
    }
  }
  if (columns.thread != 0) return;
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    if (i * groups < row_count) store_statistics<centred>(a, first_row + i * groups, means.of[i], rstd.of[i]);
  }
}

}  // namespace dsbuild::ops
