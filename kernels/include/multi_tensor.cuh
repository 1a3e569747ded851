// Work over many tensors at once. A launch carries the addresses of up to k_max_tensors tensors in its
// arguments (so nothing is copied to the device first); each block finds its tensor by binary search.
//
// `Arrays` is a struct of the addresses of one tensor's arrays, and of their `count` of elements.
#pragma once

#include <cstdint>
#include <vector>

#include "float_type.h"
#include "gpu_runtime.h"
#include "host_device.h"
#include "low_precision.cuh"
#include "step_arrays.h"

namespace dsbuild::ops {

constexpr int k_threads = 256;
constexpr int k_width = 4;  // elements per load
constexpr int k_rounds = 4;
constexpr int64_t k_block_elements = k_threads * k_width * k_rounds;
constexpr int k_max_tensors = 88;
constexpr int64_t k_max_blocks = 0x7fffffff;
constexpr size_t k_max_argument_bytes = 4096;  // of a kernel, before CUDA 12.1 and below 7.0 too

DSBUILD_HOST_DEVICE inline int64_t blocks_of(int64_t count) {
  return (count + k_block_elements - 1) / k_block_elements;
}

template <class Arrays>
struct TensorTable {
  Arrays tensors[k_max_tensors];
  uint32_t first_block[k_max_tensors];
  int count;
};

// The last t with first_block[t] <= block.
template <class Arrays>
__device__ int find_tensor(const TensorTable<Arrays>& table, uint32_t block) {
  int low = 0;
  int high = table.count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (table.first_block[middle] <= block) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// What a block works on.
struct Part {
  int tensor;  // in its table
  int64_t begin;
  int64_t count;  // at most k_block_elements
};

template <class Arrays>
__device__ Part own_part(const TensorTable<Arrays>& table) {
  const int t = find_tensor(table, blockIdx.x);
  const int64_t begin = static_cast<int64_t>(blockIdx.x - table.first_block[t]) * k_block_elements;
  const int64_t left = table.tensors[t].count - begin;
  return {t, begin, left < k_block_elements ? left : k_block_elements};
}

template <class... T>
__device__ bool packs_aligned(const T*... arrays) {
  return (aligned_to(arrays, sizeof(Pack<T, k_width>)) && ...);
}

// Calls work.at<width>(i) for all of the block's elements: by whole packs where the block is full and its
// arrays are aligned, else one by one.
template <class Work>
__device__ void for_each_element(int64_t count, Work& work) {
  if (count == k_block_elements && work.aligned()) {
#pragma unroll 2
    for (int round = 0; round < k_rounds; ++round)
      work.template at<k_width>((round * k_threads + threadIdx.x) * k_width);
    return;
  }
  for (int64_t i = threadIdx.x; i < count; i += k_threads)
    work.template at<1>(i);
}

// What a step multiplies by, worked out by the host.
template <class Coefficients>
struct KnownCoefficients {
  Coefficients known;

  __device__ const Coefficients& get() const { return known; }
};

// The same, worked out by each block when it runs: by one thread, for it takes double arithmetic, of which
// many GPUs have little.
template <class Coefficients, class Options>
struct LateCoefficients {
  Options options;

  __device__ Coefficients get() const {
    __shared__ Coefficients worked_out;
    if (threadIdx.x == 0) worked_out = coefficients(options);
    __syncthreads();
    return worked_out;
  }
};

// `Work` is made of the coefficients, one tensor's arrays, and where in them to begin.
template <class Work, class Arrays, class Values>
__global__ void __launch_bounds__(k_threads)
    step_tensors(const TensorTable<Arrays> table, const Values values) {
  const Part part = own_part(table);
  decltype(auto) c = values.get();
  Work work(c, table.tensors[part.tensor], part.begin);
  for_each_element(part.count, work);
}

// Calls launch(table, blocks) for one chunk of tensors after the other; tensors without elements are left
// out.
template <class Arrays, class Launch>
cudaError_t for_each_table(const std::vector<Arrays>& tensors, const Launch& launch) {
  TensorTable<Arrays> table{};
  int64_t blocks = 0;
  for (const Arrays& tensor : tensors) {
    const int64_t tensor_blocks = blocks_of(tensor.count);
    if (tensor_blocks == 0) continue;
    if (tensor_blocks > k_max_blocks) return cudaErrorInvalidValue;
    if (table.count == k_max_tensors || blocks + tensor_blocks > k_max_blocks) {
      const cudaError_t error = launch(table, static_cast<uint32_t>(blocks));
      if (error != cudaSuccess) return error;
      table.count = 0;
      blocks = 0;
    }
    table.tensors[table.count] = tensor;
    table.first_block[table.count] = static_cast<uint32_t>(blocks);
    ++table.count;
    blocks += tensor_blocks;
  }
  return blocks == 0 ? cudaSuccess : launch(table, static_cast<uint32_t>(blocks));
}

// Launch::run<Param, Grad>(arguments...) for types that step_supports.
template <class Launch, class... Arguments>
cudaError_t run_typed(FloatType param, FloatType grad, const Arguments&... arguments) {
  if (param == FloatType::float16) return Launch::template run<Half, Half>(arguments...);
  if (param == FloatType::bfloat16) return Launch::template run<Bfloat16, Bfloat16>(arguments...);
  if (grad == FloatType::float16) return Launch::template run<float, Half>(arguments...);
  if (grad == FloatType::bfloat16) return Launch::template run<float, Bfloat16>(arguments...);
  return Launch::template run<float, float>(arguments...);
}

template <template <class, class> class Work>
struct StepLaunch {
  template <class Param, class Grad, class Arrays, class Values>
  static cudaError_t run(const std::vector<Arrays>& tensors, const Values& values, cudaStream_t stream) {
    static_assert(sizeof(TensorTable<Arrays>) + sizeof(Values) <= k_max_argument_bytes);
    return for_each_table(tensors, [&](const TensorTable<Arrays>& table, uint32_t blocks) {
      step_tensors<Work<Param, Grad>, Arrays, Values><<<blocks, k_threads, 0, stream>>>(table, values);
      return cudaGetLastError();
    });
  }
};

// One launch per chunk of tensors on `stream` of the current device.
template <template <class, class> class Work, class Arrays, class Options>
cudaError_t launch_step(const std::vector<Arrays>& tensors, FloatType param, FloatType grad,
                        const Options& options, cudaStream_t stream) {
  using Coefficients = decltype(coefficients(options));
  if (options.late()) {
    return run_typed<StepLaunch<Work>>(param, grad, tensors, LateCoefficients<Coefficients, Options>{options},
                                       stream);
  }
  return run_typed<StepLaunch<Work>>(param, grad, tensors,
                                     KnownCoefficients<Coefficients>{coefficients(options)}, stream);
}

}  // namespace dsbuild::ops
