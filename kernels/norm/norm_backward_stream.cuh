// The backward pass for aligned rows that a block goes through (norm_stream.cuh). Each thread adds up the
// gradients of weight and bias for its columns, each block writes its sums to scratch.
#pragma once

#include "cluster.cuh"
#include "norm_gradients.cuh"
#include "norm_stream.cuh"

namespace dsbuild::ops {

// What a thread has added up for its columns.
template <int width, int packs, int parameters>
struct ColumnSums {
  Pack<float, width> of[parameters][packs]{};

  // g * x' is the row's share of the weight's gradient, g that of the bias's.
  __device__ void add(int p, const Pack<float, width>& grad_out, const RowTerms<width>& terms) {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      of[0][p].item[k] += grad_out.item[k] * terms.normalised.item[k];
      if constexpr (parameters > 1) of[1][p].item[k] += grad_out.item[k];
    }
  }
};

// Adds up the sums of the block's rows, and stores them in its part of scratch. `shared` holds the sums of
// all threads meanwhile: they need no more than two stages of a RowStream.
template <int width, int packs, int parameters>
__device__ void store_part(const NormBackward& a, const ColumnSums<width, packs, parameters>& sums,
                           const RowLayout& layout, const RowPlace& place, const Columns& columns, int parts,
                           int part_number, float* shared) {
  constexpr int quad = 4;
  static_assert(parameters * width * sizeof(float) <= 2 * k_stream_arrays * sizeof(uint4));
  const int row_floats = layout.threads * packs * width;
  const int block_floats = layout.rows_of_block * row_floats;
  __syncthreads();
#pragma unroll
  for (int parameter = 0; parameter < parameters; ++parameter) {
    float* const row = shared + parameter * block_floats + place.row * row_floats;
#pragma unroll
    for (int p = 0; p < packs; ++p)
      store_pack(row + columns.begin<width>(p), sums.of[parameter][p]);
  }
  __syncthreads();
#pragma unroll
  for (int parameter = 0; parameter < parameters; ++parameter) {
    float* const part = part_of(a, parameter, parts, part_number);
    for (int column = static_cast<int>(threadIdx.x) * quad; column < columns.hidden;
         column += static_cast<int>(blockDim.x) * quad) {
      const float* const first = shared + parameter * block_floats + column;
      auto sum = load_pack<quad>(first);
      for (int row = 1; row < layout.rows_of_block; ++row) {
        const auto other = load_pack<quad>(first + row * row_floats);
#pragma unroll
        for (int k = 0; k < quad; ++k)
          sum.item[k] += other.item[k];
      }
      store_pack(part + column, sum);
    }
  }
}

template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_stream_threads(packs* k_pack_width<T>))
    norm_backward_stream_kernel(const NormBackward a, const RowLayout layout, int stages, float one_item) {
  constexpr int width = k_pack_width<T>;
  constexpr int parameters = k_parameters<centred>;
  // Few terms stay in registers for the second look.
  constexpr bool is_kept = packs * width == k_few_elements;
  extern __shared__ uint4 staged_rows[];
  let_next_kernel_start();
  const RowPlace place(layout);
  const Columns columns = own_columns<packs>(layout, place, a.shape.hidden);
  const auto part = static_cast<int>(blockIdx.x);
  const auto parts = static_cast<int>(gridDim.x);
  RowStream<T, packs> rows(staged_rows, a.shape, columns, place, layout.rows_of_block, part, parts, stages,
                           {a.input, a.grad_out});
  const ParameterFloats<T, packs> weight(a.weight, columns, 1);
  RowSums<parameters> merged(layout, place);
  ColumnSums<width, packs, parameters> column_sums;
  Statistics next = statistics_of<centred>(a, rows.row());
  for (; rows.goes_on(); rows.advance()) {
    const Statistics own = next;
    next = statistics_of<centred>(a, rows.next_row());
    rows.fetch_next();
    rows.wait(stages - 1);
    RowTerms<width> terms[is_kept ? packs : 1];
    const auto terms_of = [&](int p, const Pack<float, width>& grad_out) {
      return RowTerms<width>(rows.pack(rows.stage(), 0, p), grad_out, weight.pack(p), own);
    };
    auto sums = Sums<parameters>::none();
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto grad_out = rows.pack(rows.stage(), 1, p);
      auto& here = terms[is_kept ? p : 0];
      here = terms_of(p, grad_out);
      here.add_to(sums);
      column_sums.add(p, grad_out, here);
    }
    const auto means = means_of(merged(sums), one_item);
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto here = is_kept ? terms[is_kept ? p : 0] : terms_of(p, rows.pack(rows.stage(), 1, p));
      rows.store(a.grad_input, rows.row(), p, here.grad_input(means, own.rstd));
    }
  }
  wait_for_copies<0>();
  if (a.scratch == nullptr) return;
  store_part(a, column_sums, layout, place, columns, parts, part, reinterpret_cast<float*>(staged_rows));
}

}  // namespace dsbuild::ops
