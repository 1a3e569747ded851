// The backward pass, for rms_norm and layer_norm (`centred`). As many blocks as the GPU runs at once go
// through the rows; each thread adds up the gradients of weight and bias for its columns, each block writes
// its sums to scratch, and a second kernel adds up the blocks' in one fixed order: every run gives the same
// bits. Rows of up to a warp stay in registers, those of a block in shared memory (norm_backward_staged.cuh);
// rows that are too long for either have these gradients from a kernel of their own, which reads the rows
// once more, column by column.
#pragma once

#include <algorithm>

#include "norm_backward_staged.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_backward_limits{128, {0, 0, 0}, 512};  // for rows in registers or in memory
constexpr int k_column_threads = 256;                           // of a block that reads rows column by column
constexpr int k_column_blocks = 4;                              // of those, on a multiprocessor
constexpr int k_sum_threads = k_warp * k_warp;                  // of a block that adds up parts
constexpr int k_default_shared = 48 * 1024;                     // bytes that every block may take

// Threads that a multiprocessor's registers are enough for: 1,024 with up to 64 each, or 512 with up to 128.
constexpr int resident_threads(int packs) {
  return packs <= 1 ? 1024 : 512;
}

// Of a block.
constexpr int most_backward_threads(int packs) {
  return packs == 0 ? k_backward_limits.memory_threads : k_backward_limits.warp_block;
}

struct BackwardPlan {
  RowLayout layout;
  int blocks;
  int shared_bytes;  // of a block
  int stages;        // rows of a block in shared memory; 0: it has sums there, or nothing
  int parts;         // of scratch: sums over some of the rows
  int tiles;         // of columns, where these sums have a kernel of their own
};

template <class T>
int sums_bytes(const RowLayout& layout, int parameters) {
  return layout.block_threads * layout.packs * k_pack_width<T> * parameters * static_cast<int>(sizeof(float));
}

// For rows in registers or in shared memory: one part for each block, of which `resident` are on a
// multiprocessor at once.
inline BackwardPlan plan_of_parts(const RowLayout& layout, int64_t rows, int resident, int shared_bytes,
                                  int stages) {
  const int64_t blocks =
      std::min<int64_t>(ceil_div(rows, layout.rows_of_block),
                        int64_t{resident} * device_attribute(cudaDevAttrMultiProcessorCount));
  return {layout, static_cast<int>(blocks), shared_bytes, stages, static_cast<int>(blocks), 0};
}

template <bool centred, class T>
BackwardPlan plan_in_registers(const RowLayout& layout, int64_t rows) {
  const int shared_bytes = sums_bytes<T>(layout, k_parameters<centred>);
  const int of_threads = resident_threads(layout.packs) / layout.block_threads;
  const int of_shared =
      device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / (shared_bytes + k_other_shared);
  return plan_of_parts(layout, rows, std::max(1, std::min(of_threads, of_shared)), shared_bytes, 0);
}

inline BackwardPlan plan_staged(const RowLayout& layout, int64_t rows) {
  const int stages = stages_for(layout);
  return plan_of_parts(layout, rows, resident_staged_blocks(layout), stages * stage_bytes(layout), stages);
}

inline BackwardPlan plan_in_memory(const RowLayout& layout, int64_t rows, int64_t row_packs) {
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const int resident = resident_threads(layout.packs) / layout.block_threads * processors;
  const int64_t tiles = ceil_div(row_packs, k_column_threads);
  const int64_t parts = std::min(rows, std::max<int64_t>(1, k_column_blocks * processors / tiles));
  const int64_t blocks = std::min<int64_t>(ceil_div(rows, layout.rows_of_block), resident);
  return {layout, static_cast<int>(blocks), 0, 0, static_cast<int>(parts), static_cast<int>(tiles)};
}

template <bool centred, class T>
BackwardPlan backward_plan(const NormShape& shape, bool aligned) {
  constexpr int width = k_pack_width<T>;
  const RowLayout layout = row_layout(shape.hidden, width, k_staged_limits, aligned);
  if (layout.packs > 0 && layout.threads <= k_warp) return plan_in_registers<centred, T>(layout, shape.rows);
  if (layout.packs > 0 && stages_for(layout) >= 2) return plan_staged(layout, shape.rows);
  return plan_in_memory(memory_layout(shape.hidden, width, k_backward_limits, aligned), shape.rows,
                        ceil_div(shape.hidden, width));
}

// What a thread has added up for its columns, in the block's shared memory. Neighbouring threads have
// neighbouring quadruples.
template <int width, int packs>
struct ColumnSums {
  float4* quads;

  __device__ float4& quad(int parameter, int p, int q) const {
    return quads[((parameter * packs + p) * (width / 4) + q) * blockDim.x + threadIdx.x];
  }
  __device__ void clear(int parameters) const {
    for (int i = 0; i < parameters * packs * (width / 4); ++i)
      quads[i * blockDim.x + threadIdx.x] = make_float4(0, 0, 0, 0);
  }
  __device__ void add(int parameter, int p, const Pack<float, width>& values) const {
#pragma unroll
    for (int q = 0; q < width / 4; ++q) {
      float4 sums = quad(parameter, p, q);
      sums.x += values.item[4 * q];
      sums.y += values.item[4 * q + 1];
      sums.z += values.item[4 * q + 2];
      sums.w += values.item[4 * q + 3];
      quad(parameter, p, q) = sums;
    }
  }
  // Of one column, over all rows of the block.
  __device__ float total(int parameter, int column, const RowLayout& layout) const {
    const int pack = column / width;
    const int quad_index = (parameter * packs + pack / layout.threads) * (width / 4) + column % width / 4;
    const float4* of_first_row = quads + quad_index * blockDim.x + pack % layout.threads;
    float sum = 0;
    for (int row = 0; row < layout.rows_of_block; ++row)
      sum += reinterpret_cast<const float*>(of_first_row + row * layout.threads)[column % 4];
    return sum;
  }
};

template <bool centred, class T, int packs>
__device__ void store_part(const NormBackward& a, const ColumnSums<k_pack_width<T>, packs>& sums,
                           const RowLayout& layout) {
  __syncthreads();
  for (int parameter = 0; parameter < k_parameters<centred>; ++parameter) {
    float* part = part_of(a, parameter, static_cast<int>(gridDim.x), static_cast<int>(blockIdx.x));
    for (int column = static_cast<int>(threadIdx.x); column < a.shape.hidden;
         column += static_cast<int>(blockDim.x))
      part[column] = sums.total(parameter, column, layout);
  }
}

// Of the block's rows that begin at `first`.
template <class T, int packs>
__device__ RowPair<T, Row<T, packs>> pair_at(const NormBackward& a, const RowLayout& layout, int64_t first) {
  RowPair<T, Row<T, packs>> pair;
  pair.number = first + row_in_block(layout);
  const bool exists = pair.number < a.shape.rows;
  pair.columns = own_columns<packs>(layout, exists ? a.shape.hidden : 0);
  const int64_t begin = pair.number * a.shape.hidden;
  pair.input.begin_at(static_cast<const T*>(a.input) + begin, pair.columns);
  pair.grad_out.begin_at(static_cast<const T*>(a.grad_out) + begin, pair.columns);
  pair.mean = exists && a.mean != nullptr ? a.mean[pair.number] : 0;
  pair.rstd = exists ? a.rstd[pair.number] : 0;
  return pair;
}

// The next rows are on their way while a block works on its own.
template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_backward_threads(packs),
                                  resident_threads(packs) / most_backward_threads(packs))
    norm_backward_kernel(const NormBackward a, const RowLayout layout) {
  extern __shared__ float4 shared_sums[];
  ColumnSums<k_pack_width<T>, packs> sums{shared_sums};
  const bool adds = packs > 0 && a.scratch != nullptr;
  if (adds) sums.clear(k_parameters<centred>);
  const int64_t stride = static_cast<int64_t>(gridDim.x) * layout.rows_of_block;
  int64_t first = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block;
  auto next = pair_at<T, packs>(a, layout, first);
  for (int turn = 0; first < a.shape.rows; turn ^= 1) {
    const auto row = next;
    first += stride;
    if (first < a.shape.rows) next = pair_at<T, packs>(a, layout, first);
    const auto means = row_means<centred, packs>(a, row, turn);
    const float grad_mean = centred ? means.of[k_parameters<centred> - 1] : 0;
    for_each_pack<T, packs>(row.columns, [&](int p, int) {
      store_grad_input(a, row, grad_mean, means.of[0], p);
      if constexpr (packs > 0) {
        if (adds) add_shares<centred>(sums, row, p);
      }
    });
  }
  if constexpr (packs > 0) {
    if (adds) store_part<centred, T, packs>(a, sums, layout);
  }
}

// A block has a tile of columns and a part of the rows.
template <bool centred, class T>
__global__ void __launch_bounds__(k_column_threads) norm_columns_kernel(const NormBackward a, bool aligned) {
  constexpr int width = k_pack_width<T>;
  const Columns columns{a.shape.hidden, static_cast<int>(blockIdx.x * k_column_threads + threadIdx.x),
                        static_cast<int>(gridDim.x) * k_column_threads, aligned};
  Pack<float, width> sums[k_parameters<centred>]{};
#pragma unroll 4
  for (int64_t row = blockIdx.y; row < a.shape.rows; row += gridDim.y) {
    const int64_t begin = row * a.shape.hidden;
    const auto x = floats_of(load_columns<width>(static_cast<const T*>(a.input) + begin, columns, 0));
    const auto grad = floats_of(load_columns<width>(static_cast<const T*>(a.grad_out) + begin, columns, 0));
    const float mean = centred ? a.mean[row] : 0;
    const float rstd = a.rstd[row];
#pragma unroll
    for (int k = 0; k < width; ++k) {
      sums[0].item[k] += grad.item[k] * ((x.item[k] - mean) * rstd);
      if constexpr (centred) sums[1].item[k] += grad.item[k];
    }
  }
#pragma unroll
  for (int parameter = 0; parameter < k_parameters<centred>; ++parameter) {
    store_columns(part_of(a, parameter, static_cast<int>(gridDim.y), static_cast<int>(blockIdx.y)), columns,
                  0, sums[parameter]);
  }
}

// A block adds up the parts of 32 columns of one parameter; its threads begin with every 32nd part.
template <class T>
__global__ void __launch_bounds__(k_sum_threads) add_parts_kernel(const NormBackward a, int parts) {
  __shared__ float of_threads[k_warp][k_warp + 1];
  const NormParameter result = blockIdx.y == 0 ? a.grad_weight : a.grad_bias;
  if (result.data == nullptr) return;
  const int first_column = static_cast<int>(blockIdx.x) * k_warp;
  const int column = first_column + static_cast<int>(threadIdx.x);
  float sum = 0;
  if (column < a.shape.hidden) {
#pragma unroll 4
    for (int part = static_cast<int>(threadIdx.y); part < parts; part += k_warp)
      sum += part_of(a, static_cast<int>(blockIdx.y), parts, part)[column];
  }
  of_threads[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  const float total = merged_in_lanes(Sums<1>{{of_threads[threadIdx.x][threadIdx.y]}}, k_warp).of[0];
  const int own_column = first_column + static_cast<int>(threadIdx.y);
  if (threadIdx.x != 0 || own_column >= a.shape.hidden) return;
  if (result.float32) {
    static_cast<float*>(result.data)[own_column] = total;
  } else {
    static_cast<T*>(result.data)[own_column] = from_float<T>(total);
  }
}

template <class Kernel>
cudaError_t allow_shared(Kernel kernel, int bytes) {
  if (bytes + k_other_shared <= k_default_shared) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

template <bool centred, class T, int packs>
cudaError_t launch_rows(const NormBackward& a, const BackwardPlan& plan, cudaStream_t stream) {
  if constexpr (packs > 0) {
    if (plan.stages > 0) {
      const auto kernel = norm_backward_staged_kernel<centred, T, packs>;
      const cudaError_t error = allow_shared(kernel, plan.shared_bytes);
      if (error != cudaSuccess) return error;
      kernel<<<plan.blocks, plan.layout.block_threads, plan.shared_bytes, stream>>>(a, plan.layout,
                                                                                    plan.stages);
      return cudaGetLastError();
    }
  }
  const auto kernel = norm_backward_kernel<centred, T, packs>;
  const int shared_bytes = a.scratch == nullptr ? 0 : plan.shared_bytes;
  const cudaError_t error = allow_shared(kernel, shared_bytes);
  if (error != cudaSuccess) return error;
  kernel<<<plan.blocks, plan.layout.block_threads, shared_bytes, stream>>>(a, plan.layout);
  return cudaGetLastError();
}

template <bool centred, class T>
cudaError_t launch_parameters(const NormBackward& a, const BackwardPlan& plan, cudaStream_t stream) {
  if (plan.tiles > 0 && plan.parts > 0) {
    norm_columns_kernel<centred, T>
        <<<dim3(plan.tiles, plan.parts), k_column_threads, 0, stream>>>(a, plan.layout.aligned);
  }
  const auto groups = static_cast<unsigned>(ceil_div(a.shape.hidden, k_warp));
  add_parts_kernel<T>
      <<<dim3(groups, k_parameters<centred>), dim3(k_warp, k_warp), 0, stream>>>(a, plan.parts);
  return cudaGetLastError();
}

template <bool centred, class T>
cudaError_t launch_backward_of_type(const NormBackward& a, cudaStream_t stream) {
  const bool aligned = a.shape.hidden % k_pack_width<T> == 0 &&
                       all_aligned({a.grad_out, a.input, a.weight.data, a.grad_input, a.scratch});
  const BackwardPlan plan = backward_plan<centred, T>(a.shape, aligned);
  if (a.shape.rows > 0) {
    const cudaError_t error = with_packs(plan.layout.packs, [&](auto packs) {
      return launch_rows<centred, T, decltype(packs)::value>(a, plan, stream);
    });
    if (error != cudaSuccess) return error;
  }
  const bool wanted = a.grad_weight.data != nullptr || a.grad_bias.data != nullptr;
  return wanted ? launch_parameters<centred, T>(a, plan, stream) : cudaSuccess;
}

template <bool centred>
cudaError_t launch_backward(const NormBackward& a, cudaStream_t stream) {
  return with_type(a.shape.type,
                   [&](auto value) { return launch_backward_of_type<centred, decltype(value)>(a, stream); });
}

template <bool centred>
int64_t scratch_elements(const NormShape& shape) {
  return with_type(shape.type, [&](auto value) {
    int parts = 0;
    for (const bool aligned : {true, false})
      parts = std::max(parts, backward_plan<centred, decltype(value)>(shape, aligned).parts);
    return int64_t{k_parameters<centred>} * parts * shape.hidden;
  });
}

}  // namespace dsbuild::ops
