// The backward pass for rows that a whole block shares. The rows behind the one that is worked on are on
// their way to shared memory, where a thread reads what it has fetched itself: only the sums over a row need
// the block. What a thread adds up for its columns stays in its registers.
#pragma once

#include "async_copy.cuh"
#include "norm_gradients.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_staged_limits{128, {128, 256, 512}, 0};
constexpr int k_most_stages = 6;  // rows of a block in shared memory

constexpr int most_staged_threads(int packs) {
  return k_staged_limits.most_threads[packs / 2];
}

// Blocks of so many threads that a multiprocessor's registers are enough for.
constexpr int resident_staged_blocks(int packs) {
  return packs == 1 ? 8 : packs == 2 ? 3 : 1;
}

// Input and gradient of a row.
inline int stage_bytes(const RowLayout& layout) {
  return 2 * layout.packs * layout.block_threads * static_cast<int>(sizeof(uint4));
}

inline int resident_staged_blocks(const RowLayout& layout) {
  return resident_staged_blocks(layout.packs) * most_staged_threads(layout.packs) / layout.block_threads;
}

// How many rows of each resident block shared memory is enough for; below 2 there is no use in it.
inline int stages_for(const RowLayout& layout) {
  const int of_block = std::min(
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin),
      device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / resident_staged_blocks(layout));
  return std::min(k_most_stages, (of_block - k_other_shared) / stage_bytes(layout));
}

// A thread's part of a row in shared memory. Its packs lie as far apart as the block has threads.
template <class T>
struct StagedRow {
  const uint4* own;

  __device__ Pack<float, k_pack_width<T>> pack(int p, const Columns&) const {
    return floats_of_words<T>(own[p * blockDim.x]);
  }
};

// Of a row: what is needed beside its elements.
struct Statistics {
  float mean, rstd;
};

template <bool centred>
__device__ Statistics statistics_of(const NormBackward& a, int64_t row) {
  if (row >= a.shape.rows) return {0, 0};
  return {centred ? a.mean[row] : 0, a.rstd[row]};
}

// The rows of a block in shared memory, round and round.
template <class T, int packs>
struct Stages {
  uint4* memory;
  int count;

  __device__ uint4* own(int stage, int array) const {
    return memory + (stage * 2 + array) * packs * blockDim.x + threadIdx.x;
  }
  // A group of copies for each row, also where there is none.
  __device__ void fetch(const NormBackward& a, const Columns& columns, int64_t row, int stage) const {
    if (row < a.shape.rows) {
      const T* const arrays[2] = {static_cast<const T*>(a.input) + row * a.shape.hidden,
                                  static_cast<const T*>(a.grad_out) + row * a.shape.hidden};
#pragma unroll
      for (int array = 0; array < 2; ++array) {
        for_each_pack<T, packs>(columns, [&](int p, int begin) {
          const bool there = begin < columns.hidden;
          copy_async<16>(own(stage, array) + p * blockDim.x, there ? arrays[array] + begin : arrays[array],
                         there);
        });
      }
    }
    commit_copies();
  }
  // Until the oldest row is there. The instruction takes a constant.
  __device__ void wait() const {
    static_assert(k_most_stages == 6, "a case for each count");
    if (count == 2) wait_for_copies<1>();
    if (count == 3) wait_for_copies<2>();
    if (count == 4) wait_for_copies<3>();
    if (count == 5) wait_for_copies<4>();
    if (count == 6) wait_for_copies<5>();
  }
};

// What a thread has added up for its columns, in registers.
template <int width, int packs, int parameters>
struct RegisterSums {
  Pack<float, width> of[parameters][packs]{};

  __device__ void add(int parameter, int p, const Pack<float, width>& values) {
#pragma unroll
    for (int k = 0; k < width; ++k)
      of[parameter][p].item[k] += values.item[k];
  }
};

template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_staged_threads(packs), resident_staged_blocks(packs))
    norm_backward_staged_kernel(const NormBackward a, const RowLayout layout, int stage_count) {
  extern __shared__ uint4 staged_rows[];
  const Stages<T, packs> stages{staged_rows, stage_count};
  const Columns columns = own_columns<packs>(layout, a.shape.hidden);
  const int64_t stride = gridDim.x;
  int64_t row = blockIdx.x;
  for (int stage = 0; stage + 1 < stages.count; ++stage)
    stages.fetch(a, columns, row + stage * stride, stage);
  RegisterSums<k_pack_width<T>, packs, k_parameters<centred>> sums;
  Statistics next = statistics_of<centred>(a, row);
  int stage = 0;
  for (int turn = 0; row < a.shape.rows; row += stride, turn ^= 1) {
    const int free_stage = stage == 0 ? stages.count - 1 : stage - 1;
    stages.fetch(a, columns, row + (stages.count - 1) * stride, free_stage);
    const Statistics own = next;
    next = statistics_of<centred>(a, row + stride);
    stages.wait();
    const RowPair<T, StagedRow<T>> pair{
        row, columns, own.mean, own.rstd, {stages.own(stage, 0)}, {stages.own(stage, 1)}};
    const auto means = row_means<centred, packs>(a, pair, turn);
    for_each_pack<T, packs>(columns, [&](int p, int) {
      add_shares<centred>(sums, pair, p);
      store_grad_input(a, pair, centred ? means.of[k_parameters<centred> - 1] : 0, means.of[0], p);
    });
    stage = stage + 1 == stages.count ? 0 : stage + 1;
  }
  if (a.scratch == nullptr) return;
#pragma unroll
  for (int parameter = 0; parameter < k_parameters<centred>; ++parameter) {
    float* part = part_of(a, parameter, static_cast<int>(gridDim.x), static_cast<int>(blockIdx.x));
#pragma unroll
    for (int p = 0; p < packs; ++p)
      store_columns(part, columns, p, sums.of[parameter][p]);
  }
}

}  // namespace dsbuild::ops
