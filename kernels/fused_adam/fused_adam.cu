// Adam over many tensors at once. A launch carries the addresses of up to k_max_tensors tensors in its
// arguments (so nothing is copied to the device first); each block finds its tensor by binary search.
#include "fused_adam.h"
#include "low_precision.cuh"

namespace dsbuild::ops {
namespace {

constexpr int k_threads = 256;
constexpr int k_width = 4;  // elements per load
constexpr int k_rounds = 4;
constexpr int64_t k_block_elements = k_threads * k_width * k_rounds;
constexpr int k_max_tensors = 88;
constexpr int64_t k_max_blocks = 0x7fffffff;

struct TensorTable {
  AdamArrays tensors[k_max_tensors];
  uint32_t first_block[k_max_tensors];
  int count;
};
static_assert(sizeof(TensorTable) + sizeof(AdamCoefficients) <= 4096, "kernel arguments hold 4 KiB");

template <class Param, class Grad>
struct Arrays {
  Param* __restrict__ param;
  const Grad* __restrict__ grad;
  float* __restrict__ exp_avg;
  float* __restrict__ exp_avg_sq;
};

// sqrt and division round correctly, so that results agree with the CPU op's to the last bits.
template <class Param, class Grad>
__device__ Param adam_element(const AdamCoefficients& c, Param param, Grad grad, float& m, float& v) {
  const float p = to_float(param);
  const float g = to_float(grad) * c.grad_scale + c.l2 * p;
  m = c.beta1 * m + c.one_minus_beta1 * g;
  v = c.beta2 * v + c.one_minus_beta2 * g * g;
  return from_float<Param>(p * c.decay - c.step_size * m / (sqrtf(v) * c.v_scale + c.eps));
}

template <class Param, class Grad>
__device__ void update_pack(const AdamCoefficients& c, const Arrays<Param, Grad>& a, int64_t i) {
  auto p = load_pack<k_width>(a.param + i);
  const auto g = load_pack<k_width>(a.grad + i);
  auto m = load_pack<k_width>(a.exp_avg + i);
  auto v = load_pack<k_width>(a.exp_avg_sq + i);
#pragma unroll
  for (int k = 0; k < k_width; ++k) {
    p.item[k] = adam_element(c, p.item[k], g.item[k], m.item[k], v.item[k]);
  }
  store_pack(a.param + i, p);
  store_pack(a.exp_avg + i, m);
  store_pack(a.exp_avg_sq + i, v);
}

// The last t with first_block[t] <= block.
__device__ int find_tensor(const TensorTable& table, uint32_t block) {
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

template <class Param, class Grad>
__device__ bool packs_aligned(const Arrays<Param, Grad>& a) {
  return aligned_to(a.param, sizeof(Pack<Param, k_width>)) &&
         aligned_to(a.grad, sizeof(Pack<Grad, k_width>)) && aligned_to(a.exp_avg, 16) &&
         aligned_to(a.exp_avg_sq, 16);
}

template <class Param, class Grad>
__global__ void __launch_bounds__(k_threads)
    adam_kernel(const TensorTable table, const AdamCoefficients coefficients) {
  const int t = find_tensor(table, blockIdx.x);
  const int64_t begin = static_cast<int64_t>(blockIdx.x - table.first_block[t]) * k_block_elements;
  const int64_t left = table.tensors[t].count - begin;
  const Arrays<Param, Grad> a{static_cast<Param*>(table.tensors[t].param) + begin,
                              static_cast<const Grad*>(table.tensors[t].grad) + begin,
                              table.tensors[t].exp_avg + begin, table.tensors[t].exp_avg_sq + begin};
  if (left >= k_block_elements && packs_aligned(a)) {
#pragma unroll 2
    for (int round = 0; round < k_rounds; ++round) {
      update_pack(coefficients, a, (round * k_threads + threadIdx.x) * k_width);
    }
    return;
  }
  const int64_t count = left < k_block_elements ? left : k_block_elements;
  for (int64_t i = threadIdx.x; i < count; i += k_threads) {
    a.param[i] = adam_element(coefficients, a.param[i], a.grad[i], a.exp_avg[i], a.exp_avg_sq[i]);
  }
}

using Launch = cudaError_t (*)(const TensorTable&, uint32_t, const AdamCoefficients&, cudaStream_t);

template <class Param, class Grad>
cudaError_t launch_table(const TensorTable& table, uint32_t blocks, const AdamCoefficients& coefficients,
                         cudaStream_t stream) {
  adam_kernel<Param, Grad><<<blocks, k_threads, 0, stream>>>(table, coefficients);
  return cudaGetLastError();
}

Launch choose_launch(FloatType param, FloatType grad) {
  if (param == FloatType::float16) return launch_table<Half, Half>;
  if (param == FloatType::bfloat16) return launch_table<Bfloat16, Bfloat16>;
  if (grad == FloatType::float16) return launch_table<float, Half>;
  if (grad == FloatType::bfloat16) return launch_table<float, Bfloat16>;
  return launch_table<float, float>;
}

}  // namespace

cudaError_t launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              const AdamCoefficients& coefficients, cudaStream_t stream) {
  const Launch launch = choose_launch(param, grad);
  TensorTable table{};
  int64_t blocks = 0;
  for (const AdamArrays& tensor : tensors) {
    const int64_t tensor_blocks = (tensor.count + k_block_elements - 1) / k_block_elements;
    if (tensor_blocks == 0) continue;
    if (tensor_blocks > k_max_blocks) return cudaErrorInvalidValue;
    if (table.count == k_max_tensors || blocks + tensor_blocks > k_max_blocks) {
      const cudaError_t error = launch(table, static_cast<uint32_t>(blocks), coefficients, stream);
      if (error != cudaSuccess) return error;
      table.count = 0;
      blocks = 0;
    }
    table.tensors[table.count] = tensor;
    table.first_block[table.count] = static_cast<uint32_t>(blocks);
    ++table.count;
    blocks += tensor_blocks;
  }
  if (blocks == 0) return cudaSuccess;
  return launch(table, static_cast<uint32_t>(blocks), coefficients, stream);
}

}  // namespace dsbuild::ops
