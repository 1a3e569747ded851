// The backward pass, for rms_norm and layer_norm (`centred`). As many blocks (norm_backward_stream.cuh) or
// clusters of blocks (norm_backward_cluster.cuh) as the GPU runs at once go through the rows, and write what
// they add up for each column to scratch; a second kernel adds up these sums in one fixed order: every run
// gives the same bits. Rows that are too long for that, or not aligned, have these sums from a kernel of
// their own, which reads the rows once more, column by column.
#pragma once

#include <algorithm>

#include "norm_backward_cluster.cuh"
#include "norm_launch.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_backward_limits{128, 512};
constexpr int k_column_threads = 256;           // of a block that reads rows column by column
constexpr int k_column_blocks = 4;              // of those, on a multiprocessor
constexpr int k_sum_threads = k_warp * k_warp;  // of a block that adds up parts
constexpr int k_sum_loads = 5;                  // of a thread there, on their way at once

struct BackwardPlan {
  StreamPlan stream;  // or, where it has no packs:
  RowLayout layout;
  int blocks;
  int parts;  // of scratch: sums over some of the rows
  int tiles;  // of columns, where these sums have a kernel of their own
};

inline BackwardPlan plan_in_memory(const NormShape& shape, int width, bool aligned) {
  const RowLayout layout = memory_layout(shape.hidden, width, k_backward_limits, aligned);
  const int processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const int64_t resident = int64_t{1024} / layout.block_threads * processors;
  const int64_t blocks = std::min(ceil_div(shape.rows, layout.rows_of_block), resident);
  const int64_t tiles = ceil_div(ceil_div(shape.hidden, width), k_column_threads);
  const int64_t parts = std::min(shape.rows, std::max<int64_t>(1, k_column_blocks * processors / tiles));
  return {{}, layout, static_cast<int>(blocks), static_cast<int>(parts), static_cast<int>(tiles)};
}

// One part for each block or cluster, of which `resident` run at once.
inline BackwardPlan plan_of_stream(const StreamPlan& stream, int64_t rows, int64_t resident) {
  const auto parts = static_cast<int>(std::min(ceil_div(rows, stream.layout.rows_of_block), resident));
  return {stream, stream.layout, parts * stream.cluster, parts, 0};
}

template <class T, int elements>
constexpr int k_packs_of = elements / k_pack_width<T>;

// For rows that need more than one block, on GPUs with clusters. Packs 0: on others.
template <bool centred, class T>
BackwardPlan plan_of_clusters(const NormShape& shape) {
  if (shape.hidden <= k_few_elements * k_most_block) return {};
  for (int cluster = 2; cluster <= k_most_cluster; cluster *= 2) {
    const StreamPlan plan = stream_plan(shape, k_pack_width<T>, k_cluster_elements, cluster);
    if (plan.layout.packs == 0) continue;
    const int resident =
        resident_clusters(norm_backward_cluster_kernel<centred, T, k_packs_of<T, k_cluster_elements>>, plan);
    if (resident > 0) return plan_of_stream(plan, shape.rows, resident);
    break;
  }
  return {};
}

template <bool centred, class T>
BackwardPlan backward_plan(const NormShape& shape, bool aligned) {
  if (aligned) {
    const BackwardPlan clusters = plan_of_clusters<centred, T>(shape);
    if (clusters.stream.layout.packs > 0) return clusters;
    for (const int elements : {k_few_elements, k_many_elements}) {
      const StreamPlan plan = stream_plan(shape, k_pack_width<T>, elements, 1);
      const int processors = device_attribute(cudaDevAttrMultiProcessorCount);
      if (plan.layout.packs > 0) return plan_of_stream(plan, shape.rows, int64_t{plan.resident} * processors);
    }
  }
  return plan_in_memory(shape, k_pack_width<T>, aligned);
}

// Reads the row anew for each look, mostly from a cache.
template <bool centred, class T>
__global__ void __launch_bounds__(k_backward_limits.memory_threads, 1024 / k_backward_limits.memory_threads)
    norm_backward_kernel(const NormBackward a, const RowLayout layout, float one_item) {
  constexpr int width = k_pack_width<T>;
  const RowPlace place(layout);
  const int64_t stride = static_cast<int64_t>(gridDim.x) * layout.rows_of_block;
  int turn = 0;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block; first < a.shape.rows;
       first += stride, turn ^= 1) {
    const int64_t row = first + place.row;
    const Columns columns = own_columns<0>(layout, place, row < a.shape.rows ? a.shape.hidden : 0);
    const Statistics own = statistics_of<centred>(a, row);
    const int64_t begin = row * a.shape.hidden;
    const auto terms_of = [&](int p) {
      return RowTerms<width>(
          floats_of(load_columns<width>(static_cast<const T*>(a.input) + begin, columns, p)),
          floats_of(load_columns<width>(static_cast<const T*>(a.grad_out) + begin, columns, p)),
          load_parameter<T>(a.weight, columns, p, 1), own);
    };
    auto sums = Sums<k_parameters<centred>>::none();
    for_each_pack<T, 0>(columns, [&](int p, int) { terms_of(p).add_to(sums); });
    const auto means = means_of(merged_in_row(sums, columns, turn), one_item);
    for_each_pack<T, 0>(columns, [&](int p, int) {
      store_columns(static_cast<T*>(a.grad_input) + begin, columns, p,
                    terms_of(p).grad_input(means, own.rstd));
    });
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
    const auto normalised = normalised_of(x, statistics_of<centred>(a, row));
#pragma unroll
    for (int k = 0; k < width; ++k) {
      sums[0].item[k] += grad.item[k] * normalised.item[k];
      if constexpr (centred) sums[1].item[k] += grad.item[k];
    }
  }
#pragma unroll
  for (int parameter = 0; parameter < k_parameters<centred>; ++parameter) {
    store_columns(part_of(a, parameter, static_cast<int>(gridDim.y), static_cast<int>(blockIdx.y)), columns,
                  0, sums[parameter]);
  }
}

// A block adds up the parts of 32 times `width` columns of one parameter; each warp takes some of the parts.
template <class T, int width>
__global__ void __launch_bounds__(k_sum_threads) add_parts_kernel(const NormBackward a, int parts) {
  constexpr int columns = k_warp * width;
  __shared__ alignas(sizeof(uint4)) float of_warps[k_warp][columns];
  const auto parameter = static_cast<int>(blockIdx.y);
  const NormParameter result = parameter == 0 ? a.grad_weight : a.grad_bias;
  wait_for_kernel_before();  // each block: a later kernel waits for this one alone
  if (result.data == nullptr) return;
  const auto lane = static_cast<int>(threadIdx.x);
  const auto warp = static_cast<int>(threadIdx.y);
  const auto warps = static_cast<int>(blockDim.y);
  const int first_column = static_cast<int>(blockIdx.x) * columns;
  const int own_column = first_column + lane * width;
  Pack<float, width> sums{};
  for (int first = warp; own_column < a.shape.hidden && first < parts; first += k_sum_loads * warps) {
    Pack<float, width> items[k_sum_loads]{};
#pragma unroll
    for (int i = 0; i < k_sum_loads; ++i) {
      const int part = first + i * warps;
      // No load_constant_pack: the kernel before may still write to scratch when this one begins.
      if (part < parts) items[i] = load_pack<width>(part_of(a, parameter, parts, part) + own_column);
    }
#pragma unroll
    for (int i = 0; i < k_sum_loads * width; ++i)
      sums.item[i % width] += items[i / width].item[i % width];
  }
  store_pack(&of_warps[warp][lane * width], sums);
  __syncthreads();
  for (int i = warp * k_warp + lane; i < columns && first_column + i < a.shape.hidden; i += warps * k_warp) {
    float total = 0;
#pragma unroll 8
    for (int part = 0; part < warps; ++part)
      total += of_warps[part][i];
    if (result.float32) {
      static_cast<float*>(result.data)[first_column + i] = total;
    } else {
      static_cast<T*>(result.data)[first_column + i] = from_float<T>(total);
    }
  }
}

template <bool centred, class T>
cudaError_t launch_rows(const NormBackward& a, const BackwardPlan& plan, cudaStream_t stream) {
  const float one_item = 1 / static_cast<float>(a.shape.hidden);
  if (plan.stream.layout.packs == 0) {
    norm_backward_kernel<centred, T>
        <<<plan.blocks, plan.layout.block_threads, 0, stream>>>(a, plan.layout, one_item);
    return cudaGetLastError();
  }
  if (plan.stream.cluster > 1) {
    return launch_stream(norm_backward_cluster_kernel<centred, T, k_packs_of<T, k_cluster_elements>>,
                         plan.stream, plan.blocks, stream, a, plan.layout, plan.stream.cluster,
                         plan.stream.stages, one_item);
  }
  const auto launch = [&](auto kernel) {
    return launch_stream(kernel, plan.stream, plan.blocks, stream, a, plan.layout, plan.stream.stages,
                         one_item);
  };
  if (plan.layout.packs == k_packs_of<T, k_few_elements>)
    return launch(norm_backward_stream_kernel<centred, T, k_packs_of<T, k_few_elements>>);
  return launch(norm_backward_stream_kernel<centred, T, k_packs_of<T, k_many_elements>>);
}

template <bool centred, class T, int width>
cudaError_t launch_add_parts(const NormBackward& a, int parts, cudaStream_t stream) {
  const auto kernel = add_parts_kernel<T, width>;
  const auto groups = static_cast<unsigned>(ceil_div(a.shape.hidden, k_warp * width));
  const auto warps = static_cast<unsigned>(std::clamp<int64_t>(ceil_div(parts, k_sum_loads), 1, k_warp));
  Launch launch(dim3(groups, k_parameters<centred>), dim3(k_warp, warps), 0, stream);
  if (is_of_sm90(kernel)) launch.set_early();
  return launch(kernel, a, parts);
}

template <bool centred, class T>
cudaError_t launch_parameters(const NormBackward& a, const BackwardPlan& plan, cudaStream_t stream) {
  if (plan.tiles > 0 && plan.parts > 0) {
    norm_columns_kernel<centred, T>
        <<<dim3(plan.tiles, plan.parts), k_column_threads, 0, stream>>>(a, plan.layout.aligned);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
  }
  constexpr int wide = 4;
  const bool has_quads = a.shape.hidden % wide == 0 && aligned_to(a.scratch, wide * sizeof(float));
  return has_quads ? launch_add_parts<centred, T, wide>(a, plan.parts, stream)
                   : launch_add_parts<centred, T, 1>(a, plan.parts, stream);
}

template <bool centred, class T>
cudaError_t launch_backward_of_type(const NormBackward& a, cudaStream_t stream) {
  constexpr int width = k_pack_width<T>;
  const bool aligned = a.shape.hidden % width == 0 &&
                       all_aligned({a.grad_out, a.input, a.weight.data, a.grad_input, a.scratch});
  const BackwardPlan plan = backward_plan<centred, T>(a.shape, aligned);
  if (a.shape.rows > 0) {
    const cudaError_t error = launch_rows<centred, T>(a, plan, stream);
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
