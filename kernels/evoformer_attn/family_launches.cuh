// The launches of one family, and the table entry made of them. One source includes it for each family, so
// that a library holds exactly the families that its architectures can choose.
#pragma once

#include <type_traits>

#include "attention_backward.cuh"
#include "attention_forward.cuh"

namespace dsbuild::ops {

constexpr int64_t k_max_blocks = 0x7fffffff;
constexpr size_t k_plain_shared_memory = 48 * 1024;  // more must be asked for

// Zero blocks are no work.
template <class Memory, class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), int64_t blocks, cudaStream_t stream,
                   const Arguments&... arguments) {
  constexpr size_t bytes = std::is_empty<Memory>::value ? 0 : sizeof(Memory);
  if (blocks == 0) return cudaSuccess;
  if (blocks > k_max_blocks) return cudaErrorInvalidValue;
  if (bytes > k_plain_shared_memory) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
  }
  kernel<<<static_cast<unsigned>(blocks), k_threads, bytes, stream>>>(arguments...);
  return cudaGetLastError();
}

struct NoMemory {};

inline int64_t blocks_for(int64_t threads) {
  return (threads + k_threads - 1) / k_threads;
}

template <class Family, class T, int dim>
struct Launches {
  static cudaError_t forward(const EvoformerForward& a, cudaStream_t stream) {
    const EvoformerShape& s = a.in.shape;
    const int64_t heads = s.batch * s.rows * s.heads;
    return launch<ForwardMemory<Family, T, dim>>(forward_kernel<Family, T, dim>,
                                                 heads * tile_count(s.queries), stream, a);
  }

  static cudaError_t backward(const EvoformerBackward& a, cudaStream_t stream) {
    const EvoformerShape& s = a.in.shape;
    const int64_t heads = s.batch * s.rows * s.heads;
    const int64_t query_rows = heads * s.queries;
    cudaError_t error = launch<NoMemory>(query_numbers_kernel<Family, T>,
                                         blocks_for(query_rows * k_lanes_per_query), stream, a, query_rows);
    if (error != cudaSuccess) return error;
    error = launch<GradQMemory<Family, T, dim>>(grad_q_kernel<Family, T, dim>, heads * tile_count(s.queries),
                                                stream, a);
    if (error != cudaSuccess) return error;
    error = launch<GradKvMemory<Family, T, dim>>(grad_kv_kernel<Family, T, dim>, heads * tile_count(s.keys),
                                                 stream, a);
    if (error != cudaSuccess) return error;
    return bias_gradients(a, stream);
  }

 private:
  static cudaError_t bias_gradients(const EvoformerBackward& a, cudaStream_t stream) {
    const EvoformerShape& s = a.in.shape;
    if (a.grad_bias1 != nullptr) {
      const cudaError_t error =
          sum_parts(a.grad_bias1, key_sums(a), s.batch * s.rows, s.keys, s.heads, stream);
      if (error != cudaSuccess) return error;
    }
    if (a.grad_bias2 == nullptr) return cudaSuccess;
    const int64_t parts = evoformer_row_parts(s);
    const int64_t blocks = s.batch * parts * s.heads * tile_count(s.queries) * tile_count(s.keys);
    const cudaError_t error =
        launch<GradBias2Memory<Family, T, dim>>(pair_sums_kernel<Family, T, dim>, blocks, stream, a);
    if (error != cudaSuccess) return error;
    return sum_parts(a.grad_bias2, pair_sums(a), s.batch, int64_t{s.heads} * s.queries * s.keys, parts,
                     stream);
  }

  static cudaError_t sum_parts(void* to, const float* from, int64_t outer, int64_t distance, int64_t parts,
                               cudaStream_t stream) {
    const int64_t count = outer * distance;
    return launch<NoMemory>(sum_parts_kernel<Family, T>, blocks_for(count), stream, static_cast<T*>(to), from,
                            count, distance, parts);
  }
};

template <class Family, class T>
cudaError_t forward_of_type(const EvoformerForward& a, cudaStream_t stream) {
  return a.in.shape.head_dim <= 32 ? Launches<Family, T, 32>::forward(a, stream)
                                   : Launches<Family, T, 64>::forward(a, stream);
}

template <class Family, class T>
cudaError_t backward_of_type(const EvoformerBackward& a, cudaStream_t stream) {
  return a.in.shape.head_dim <= 32 ? Launches<Family, T, 32>::backward(a, stream)
                                   : Launches<Family, T, 64>::backward(a, stream);
}

template <class Family>
cudaError_t family_forward(const EvoformerForward& a, cudaStream_t stream) {
  if constexpr (Family::bfloat16) {
    if (a.in.type == FloatType::bfloat16) return forward_of_type<Family, Bfloat16>(a, stream);
  }
  return forward_of_type<Family, Half>(a, stream);
}

template <class Family>
cudaError_t family_backward(const EvoformerBackward& a, cudaStream_t stream) {
  if constexpr (Family::bfloat16) {
    if (a.in.type == FloatType::bfloat16) return backward_of_type<Family, Bfloat16>(a, stream);
  }
  return backward_of_type<Family, Half>(a, stream);
}

template <class Family>
cudaError_t family_attributes(cudaFuncAttributes* attributes) {
  return cudaFuncGetAttributes(attributes, forward_kernel<Family, Half, 32>);
}

template <class Family>
constexpr EvoformerFamily family_of() {
  return {Family::version, Family::bfloat16, family_attributes<Family>, family_forward<Family>,
          family_backward<Family>};
}

}  // namespace dsbuild::ops
