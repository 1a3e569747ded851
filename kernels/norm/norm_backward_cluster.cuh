// The backward pass for rows that the blocks of a cluster share: each has some of the columns. While a row's
// sums are on their way between the blocks, each block finishes the row before.
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

// Adds up what the threads of a row have, in all blocks. All get the same bits. The sums of one row may be on
// their way while those of the row before are read.
template <int count>
class ClusterSums {
 public:
  __device__ ClusterSums(const RowLayout& layout, int cluster)
      : warps_(layout.threads / k_warp), cluster_(cluster) {
    if (threadIdx.x == 0) {
      for (unsigned turn = 0; turn < k_turns; ++turn) {
        arrived(turn).begin();
        expect(turn);
      }
    }
    meet_in_cluster();
  }
  // Sends each warp's sums of this row to all blocks. The cluster numbers its rows from 0.
  __device__ void send(unsigned number, const Sums<count>& sums) const {
    const unsigned turn = number % k_turns;
    const float sum = Split::of_warp(sums);
    if (Split::lane() >= cluster_) return;
    const int warp = rank_in_cluster() * warps_ + static_cast<int>(threadIdx.x) / k_warp;
    send_to_block(Split::lane(), &of_warps(turn)[warp], sum, &arrived(turn));
  }
  // Each thread asks for all rows in their order, and for row n before it sends row n + 2.
  __device__ Sums<count> total(unsigned number) const {
    const unsigned turn = number % k_turns;
    arrived(turn).wait(number / k_turns);
    if (threadIdx.x == 0) expect(turn);
    return Split::of_arrays(of_warps(turn), cluster_ * warps_);
  }

 private:
  using Split = SplitSums<count>;
  // A warp sends row n after it has the total of row n - 2. By then all warps have sent row n - 2, and had
  // read row n - 4 first. So four buffers are enough.
  static constexpr unsigned k_turns = 4;
  static constexpr int k_most_warps = k_most_cluster * most_stream_threads(k_cluster_elements) / k_warp;

  __device__ static ByteCount& arrived(unsigned turn) {
    __shared__ ByteCount counts[k_turns];
    static_assert(sizeof counts + k_turns * sizeof(float) * count * k_most_warps + k_reserved_shared <=
                  k_other_shared);
    return counts[turn];
  }
  // The caller's sum, of each warp of the cluster.
  __device__ static float* of_warps(unsigned turn) {
    __shared__ float sums[k_turns][count][k_most_warps];
    return sums[turn][Split::own()];
  }
  __device__ void expect(unsigned turn) const {
    arrived(turn).expect(cluster_ * warps_ * static_cast<int>(sizeof(Sums<count>)));
  }

  int warps_, cluster_;
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
  const ParameterFloats<T, packs> weight(a.weight, columns, 1);
  const ClusterSums<parameters> merged(layout, cluster);
  ColumnSums<width, packs, parameters> column_sums;
  struct SentRow {
    int row, stage;
    Statistics statistics;
  };
  const auto terms_of = [&](const SentRow& at, int p, const Pack<float, width>& grad_out) {
    return RowTerms<width>(rows.pack(at.stage, 0, p), grad_out, weight.pack(p), at.statistics);
  };
  const auto finish = [&](const SentRow& at, const Sums<parameters>& sums) {
    const auto means = means_of(sums, one_item);
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      const auto terms = terms_of(at, p, rows.pack(at.stage, 1, p));
      rows.store(a.grad_input, at.row, p, terms.grad_input(means, at.statistics.rstd));
    }
  };
  Statistics next = statistics_of<centred>(a, rows.row());
  SentRow before{};
  unsigned number = 0;
  for (; rows.goes_on(); rows.advance(), ++number) {
    const SentRow own{rows.row(), rows.stage(), next};
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
    merged.send(number, sums);
    if (number > 0) finish(before, merged.total(number - 1));
    rows.fetch_next();
    before = own;
  }
  if (number > 0) finish(before, merged.total(number - 1));
  wait_for_copies<0>();
  if (a.scratch == nullptr) return;
  store_part(a, column_sums, layout, place, columns, parts, part, reinterpret_cast<float*>(staged_rows));
}

}  // namespace dsbuild::ops
