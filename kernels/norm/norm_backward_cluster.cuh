// The backward pass for rows that the blocks of a cluster share, each its columns. While a row's sums are on
// their way between the blocks, each works on the row behind it.
#pragma once

#include "norm_backward_stream.cuh"

namespace dsbuild::ops {

// The call with its arrays from this column on.
template <class T>
__device__ NormBackward from_column(NormBackward a, int column) {
  a.input = static_cast<const T*>(a.input) + column;
  a.grad_out = static_cast<const T*>(a.grad_out) + column;
  a.grad_input = static_cast<T*>(a.grad_input) + column;
  const auto item = static_cast<int>(a.weight.float32 ? sizeof(float) : sizeof(T));
  if (a.weight.data != nullptr) a.weight.data = static_cast<char*>(a.weight.data) + column * item;
  if (a.scratch != nullptr) a.scratch += column;
  return a;
}

// Adds up what the threads of a row have, in all blocks. All get the same bits.
template <int count>
class ClusterSums {
 public:
  __device__ ClusterSums(const RowLayout& layout, int cluster)
      : warps_(layout.threads / k_warp), cluster_(cluster) {
    arrive_in_cluster();  // no block may reach for one that does not run yet
  }
  // Each warp's sums go to all blocks. Those of the row before have arrived then.
  __device__ void begin(Sums<count> sums) {
    sums = merged_in_lanes(sums, k_warp);
    wait_for_cluster();
    if (lane() < cluster_) {
      Sums<count>& own =
          of_warp()[turn_][rank_in_cluster() * warps_ + static_cast<int>(threadIdx.x) / k_warp];
#pragma unroll
      for (int i = 0; i < count; ++i)
        store_in_block(&own.of[i], lane(), sums.of[i]);
    }
    arrive_in_cluster();
    before_ = last_;
    last_ = turn_;
    turn_ = turn_ + 1 == k_turns ? 0 : turn_ + 1;
  }
  // Of the row before the last that has begun.
  __device__ Sums<count> before() const { return total(before_); }
  // Of the last one. No other may begin.
  __device__ Sums<count> last() const {
    wait_for_cluster();
    return total(last_);
  }

 private:
  // A block may be at its next row's sums while another has yet to read those of the row before.
  static constexpr int k_turns = 3;

  __device__ static auto of_warp() -> Sums<count> (*)[k_most_cluster * k_warp] {
    __shared__ Sums<count> sums[k_turns][k_most_cluster * k_warp];
    return sums;
  }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % k_warp; }
  __device__ Sums<count> total(int turn) const {
    auto sums = Sums<count>::none();
#pragma unroll 1
    for (int warp = lane(); warp < cluster_ * warps_; warp += k_warp)
      sums.merge(of_warp()[turn][warp]);
    return merged_in_lanes(sums, k_warp);
  }

  int warps_, cluster_;
  int turn_ = 0, last_ = 0, before_ = 0;
};

template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_stream_threads(packs* k_pack_width<T>))
    norm_backward_cluster_kernel(const NormBackward whole, const RowLayout layout, int cluster, int stages,
                                 float one_item) {
  constexpr int width = k_pack_width<T>;
  constexpr int parameters = k_parameters<centred>;
  extern __shared__ uint4 staged_rows[];
  let_next_kernel_start();
  const RowPlace place(layout);
  const int block_columns = layout.threads * packs * width;
  const int first_column = rank_in_cluster() * block_columns;
  const NormBackward a = from_column<T>(whole, first_column);
  const Columns columns =
      own_columns<packs>(layout, place, min(a.shape.hidden - first_column, block_columns));
  const auto part = static_cast<int>(blockIdx.x) / cluster;
  const auto parts = static_cast<int>(gridDim.x) / cluster;
  RowStream<T, packs> rows(staged_rows, a.shape, columns, place, 1, part, parts, stages,
                           {a.input, a.grad_out});
  const KeptParameter<T, packs> weight(a.weight, columns, 1);
  ClusterSums<parameters> merged(layout, cluster);
  ColumnSums<width, packs, parameters> column_sums;
  struct Place {
    int row, stage;
    Statistics statistics;
  };
  const auto terms_of = [&](const Place& at, int p, const Pack<float, width>& grad_out) {
    return RowTerms<width>(rows.pack(at.stage, 0, p), grad_out, weight.pack(p), at.statistics);
  };
  const auto finish = [&](const Place& at, const Sums<parameters>& sums) {
    const auto means = means_of(sums, one_item);
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto terms = terms_of(at, p, rows.pack(at.stage, 1, p));
      rows.store(a.grad_input, at.row, p, terms.grad_input(means, at.statistics.rstd));
    }
  };
  Statistics next = statistics_of<centred>(a, rows.row());
  Place before{-1, 0, {}};
  for (; rows.goes_on(); rows.advance()) {
    const Place own{rows.row(), rows.stage(), next};
    next = statistics_of<centred>(a, rows.next_row());
    rows.wait(stages - 2);
    auto sums = Sums<parameters>::none();
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto grad_out = rows.pack(own.stage, 1, p);
      const auto terms = terms_of(own, p, grad_out);
      terms.add_to(sums);
      column_sums.add(p, grad_out, terms);
    }
    merged.begin(sums);
    if (before.row >= 0) finish(before, merged.before());
    rows.fetch_next();
    before = own;
  }
  const auto sums = merged.last();
  if (before.row >= 0) finish(before, sums);
  if (a.scratch == nullptr) return;
  wait_for_copies<0>();
  store_part(a, column_sums, layout, place, columns, parts, part, reinterpret_cast<float*>(staged_rows));
}

}  // namespace dsbuild::ops
