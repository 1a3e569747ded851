// How rows lie on the blocks that go through them (norm_stream.cuh), and how these are launched.
#pragma once

#include <algorithm>

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr int k_stream_arrays = 2;           // of which rows are read: input and gradient
constexpr int k_most_stages = 4;             // rows of a thread in shared memory
constexpr int k_reserved_shared = 1024;      // bytes of each block that CUDA keeps for itself
constexpr int k_other_shared = 6 * 1024;     // bytes that a block takes besides its rows, with these, at most
constexpr int k_most_block = 1024;           // threads
constexpr int k_most_barriers = 16;          // of a block; the first one is of all its threads
constexpr int k_default_shared = 48 * 1024;  // bytes that every block may take

// Elements of a row that a thread has. With few, 1,024 threads of 64 registers hold what they need; with
// more, 512 threads of 128.
constexpr int k_few_elements = 8;
constexpr int k_cluster_elements = 16;
constexpr int k_many_elements = 32;

constexpr int most_stream_threads(int elements) {
  return elements == k_few_elements ? k_most_block : k_most_block / 2;
}

struct StreamPlan {
  RowLayout layout;  // packs 0: such rows are too long
  int cluster;       // blocks that share a row
  int stages;
  int resident;      // blocks that a multiprocessor's registers are enough for
  int shared_bytes;  // of a block
};

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}

// Blocks of a few warps are small enough.
inline bool can_be_halved(const RowLayout& layout) {
  return layout.rows_of_block > 1 && layout.block_threads > 4 * k_warp;
}

inline RowLayout halved(RowLayout layout) {
  layout.rows_of_block /= 2;
  layout.block_threads = layout.rows_of_block * layout.threads;
  return layout;
}

// A row's threads are lanes of one warp, or whole warps. Few large blocks leave few sums to add up; where
// there are few rows, smaller ones use more of the GPU.
inline RowLayout stream_layout(int packs, int64_t least_threads, int most_threads, int64_t rows) {
  const bool on_lanes = least_threads <= k_warp;
  RowLayout layout =
      on_lanes ? layout_on_lanes(packs, least_threads, most_threads) : layout_on_block(packs, least_threads);
  if (!on_lanes)
    layout.rows_of_block = std::max(1, std::min(k_most_barriers - 1, most_threads / layout.threads));
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount);
  layout.block_threads = layout.rows_of_block * layout.threads;
  while (can_be_halved(layout) && rows < int64_t{layout.rows_of_block} * processors)
    layout = halved(layout);
  return layout;
}

// With as many stages as shared memory is enough for. Packs 0: it holds too few.
inline StreamPlan staged_plan(const RowLayout& layout, int most_threads, int cluster) {
  const int stage_bytes =
      k_stream_arrays * layout.packs * layout.block_threads * static_cast<int>(sizeof(uint4));
  const int device_shared = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int block_shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  for (int resident = most_threads / layout.block_threads; resident > 0; --resident) {
    const int room = std::min(block_shared, device_shared / resident) - k_other_shared;
    const int stages = std::min(k_most_stages, room / stage_bytes);
    if (stages >= (resident > 1 ? k_most_stages - 1 : 2))
      return {layout, cluster, stages, resident, stages * stage_bytes};
  }
  return {};
}

// For aligned rows. Packs 0: a cluster of so many blocks is not enough. Blocks of fewer rows take less shared
// memory.
inline StreamPlan stream_plan(const NormShape& shape, int width, int elements, int cluster) {
  if (shape.rows > k_most_int_rows) return {};
  const int packs = elements / width;
  const int most_threads = most_stream_threads(elements);
  const int64_t least_threads = ceil_div(ceil_div(ceil_div(shape.hidden, width), cluster), packs);
  if (least_threads > most_threads) return {};
  RowLayout layout = cluster > 1 ? layout_on_block(packs, least_threads)
                                 : stream_layout(packs, least_threads, most_threads, shape.rows);
  StreamPlan plan = staged_plan(layout, most_threads, cluster);
  while (plan.layout.packs == 0 && can_be_halved(layout)) {
    layout = halved(layout);
    plan = staged_plan(layout, most_threads, cluster);
  }
  return plan;
}

// As much as any plan takes: other host threads may launch the kernel with another one.
template <class Kernel>
cudaError_t allow_shared(Kernel kernel, int bytes) {
  if (bytes + k_other_shared <= k_default_shared) return cudaSuccess;
  const int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - k_other_shared;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

}  // namespace dsbuild::ops
