// The backward pass, for rms_norm and layer_norm (`centred`). As many blocks as the GPU runs at once go
// through the rows; each thread adds up the gradients of weight and bias for its columns in shared memory,
// each block writes its sums to scratch, and a second kernel adds up the blocks' in one fixed order: every
// run gives the same bits. Rows that are too long for registers or shared memory have these gradients from a
// kernel of their own, which reads the rows once more, column by column.
#pragma once

#include <algorithm>

#include "norm_rows.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_backward_limits{128, {1024, 512, 512}, 512};
constexpr int k_column_threads = 256;           // of a block that reads rows column by column
constexpr int k_column_blocks = 4;              // of those, on a multiprocessor
constexpr int k_sum_threads = k_warp * k_warp;  // of a block that adds up parts
constexpr int k_other_shared = 1024;            // bytes that a block takes beside its sums, at most
constexpr int k_default_shared = 48 * 1024;     // bytes that every block may take

// Which gradients of parameters there are: of the weight, and for layer_norm of the bias.
template <bool centred>
constexpr int k_parameters = centred ? 2 : 1;

// Threads that a multiprocessor's registers are enough for: 1,024 with up to 64 each, or 512 with up to 128.
constexpr int resident_threads(int packs) {
  return packs <= 1 ? 1024 : 512;
}

// Of a block.
constexpr int most_backward_threads(int packs) {
  return packs == 0 ? k_backward_limits.memory_threads : k_backward_limits.most_threads[packs / 2];
}

struct BackwardPlan {
  RowLayout layout;
  int blocks;
  int shared_bytes;  // of a block
  int parts;         // of scratch: sums over some of the rows
  int tiles;         // of columns, where these sums have a kernel of their own
};

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}

template <class T>
int sums_bytes(const RowLayout& layout, int parameters) {
  return layout.block_threads * layout.packs * k_pack_width<T> * parameters * static_cast<int>(sizeof(float));
}

// For rows in registers: one part for each block.
inline BackwardPlan plan_in_registers(const RowLayout& layout, int64_t rows, int shared_bytes) {
  const int of_threads = resident_threads(layout.packs) / layout.block_threads;
  const int of_shared =
      device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / (shared_bytes + k_other_shared);
  const int resident =
      std::max(1, std::min(of_threads, of_shared)) * device_attribute(cudaDevAttrMultiProcessorCount);
  const int64_t blocks = std::min<int64_t>(ceil_div(rows, layout.rows_of_block), resident);
  return {layout, static_cast<int>(blocks), shared_bytes, static_cast<int>(blocks), 0};
}

inline BackwardPlan plan_in_memory(const RowLayout& layout, int64_t rows, int64_t row_packs) {
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const int resident = resident_threads(layout.packs) / layout.block_threads * processors;
  const int64_t tiles = ceil_div(row_packs, k_column_threads);
  const int64_t parts = std::min(rows, std::max<int64_t>(1, k_column_blocks * processors / tiles));
  const int64_t blocks = std::min<int64_t>(ceil_div(rows, layout.rows_of_block), resident);
  return {layout, static_cast<int>(blocks), 0, static_cast<int>(parts), static_cast<int>(tiles)};
}

template <bool centred, class T>
BackwardPlan backward_plan(const NormShape& shape, bool aligned) {
  constexpr int width = k_pack_width<T>;
  const RowLayout layout = row_layout(shape.hidden, width, k_backward_limits, aligned);
  const int shared_bytes = sums_bytes<T>(layout, k_parameters<centred>);
  const int most_shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (layout.packs > 0 && shared_bytes + k_other_shared <= most_shared) {
    return plan_in_registers(layout, shape.rows, shared_bytes);
  }
  return plan_in_memory(memory_layout(shape.hidden, width, k_backward_limits, aligned), shape.rows,
                        ceil_div(shape.hidden, width));
}

// A thread's part of a row and of the gradient that comes in for it.
template <class T, int packs>
struct RowPair {
  int64_t number;
  Columns columns;
  float mean, rstd;
  Row<T, packs> input, grad_out;

  // Of the block's rows that begin at `first`.
  __device__ void begin_at(const NormBackward& a, const RowLayout& layout, int64_t first) {
    number = first + row_in_block(layout);
    const bool exists = number < a.shape.rows;
    columns = own_columns<packs>(layout, exists ? a.shape.hidden : 0);
    const int64_t begin = number * a.shape.hidden;
    input.begin_at(static_cast<const T*>(a.input) + begin, columns);
    grad_out.begin_at(static_cast<const T*>(a.grad_out) + begin, columns);
    mean = exists && a.mean != nullptr ? a.mean[number] : 0;
    rstd = exists ? a.rstd[number] : 0;
  }

  __device__ auto normalised(int p) const {
    auto x = input.pack(p, columns);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k)
      x.item[k] = (x.item[k] - mean) * rstd;
    return x;
  }
};

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

// Where a part's sums for the columns lie.
__device__ inline float* part_of(const NormBackward& a, int parameter, int parts, int part) {
  return a.scratch + (static_cast<int64_t>(parameter) * parts + part) * a.shape.hidden;
}

template <class T, int packs>
__device__ void store_grad_input(const NormBackward& a, const RowPair<T, packs>& row, float grad_mean,
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
template <bool centred, class T, int packs>
__device__ Sums<k_parameters<centred>> row_means(const NormBackward& a, const RowPair<T, packs>& row,
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
template <bool centred, class T, int packs>
__device__ void add_shares(const ColumnSums<k_pack_width<T>, packs>& sums, const RowPair<T, packs>& row,
                           int p) {
  const auto grad = row.grad_out.pack(p, row.columns);
  auto share = row.normalised(p);
#pragma unroll
  for (int k = 0; k < k_pack_width<T>; ++k)
    share.item[k] *= grad.item[k];
  sums.add(0, p, share);
  if constexpr (centred) sums.add(1, p, grad);
}

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

// The next rows are on their way while a block works on its own.
template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_backward_threads(packs),
                                  resident_threads(packs) / most_backward_threads(packs))
    norm_backward_kernel(const NormBackward a, const RowLayout layout) {
  extern __shared__ float4 shared_sums[];
  const ColumnSums<k_pack_width<T>, packs> sums{shared_sums};
  const bool adds = packs > 0 && a.scratch != nullptr;
  if (adds) sums.clear(k_parameters<centred>);
  const int64_t stride = static_cast<int64_t>(gridDim.x) * layout.rows_of_block;
  int64_t first = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block;
  RowPair<T, packs> next;
  next.begin_at(a, layout, first);
  for (int turn = 0; first < a.shape.rows; turn ^= 1) {
    const RowPair<T, packs> row = next;
    first += stride;
    if (first < a.shape.rows) next.begin_at(a, layout, first);
    const auto means = row_means<centred>(a, row, turn);
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

template <bool centred, class T, int packs>
cudaError_t launch_rows(const NormBackward& a, const BackwardPlan& plan, cudaStream_t stream) {
  const auto kernel = norm_backward_kernel<centred, T, packs>;
  const int shared_bytes = a.scratch == nullptr ? 0 : plan.shared_bytes;
  if (shared_bytes + k_other_shared > k_default_shared) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (error != cudaSuccess) return error;
  }
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
