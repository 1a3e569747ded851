// LAMB over many tensors at once, in three passes: the moments and each block's share of the two norms; one
// trust ratio for each tensor; the parameters. Sums have a fixed order, so every run gives the same bits.
#include "fused_lamb.h"

#include <cmath>

#include "bias_correction.h"
#include "multi_tensor.cuh"

namespace dsbuild::ops {
namespace {

constexpr int k_warps = k_threads / k_warp;

using Table = TensorTable<AdamArrays>;

// What the passes hand on. Of each block of the first pass, all launches counted: the sums of squares of its
// parameters and updates. Of each tensor that has elements: its blocks, and lr (with the corrections) times
// its ratio.
struct Scratch {
  float* param_squares;
  float* update_squares;
  uint32_t* first_block;
  uint32_t* block_count;
  float* rate;
};

// Where a launch's blocks and tensors stand among those of the call.
struct Position {
  uint32_t blocks_before;
  uint32_t tensors_before;
};

struct LambCoefficients {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
  float grad_scale, weight_decay;
  bool eps_inside_sqrt;
};

LambCoefficients coefficients(const LambOptions& o) {
  LambCoefficients c{};
  c.beta1 = static_cast<float>(o.beta1);
  c.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  c.beta2 = static_cast<float>(o.beta2);
  c.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  c.eps = static_cast<float>(o.eps);
  c.grad_scale = static_cast<float>(o.grad_scale);
  c.weight_decay = static_cast<float>(o.weight_decay);
  c.eps_inside_sqrt = o.eps_inside_sqrt;
  return c;
}

__device__ float update_of(const LambCoefficients& c, float p, float m, float v) {
  const float root = c.eps_inside_sqrt ? sqrtf(v + c.eps) : sqrtf(v) + c.eps;
  return fmaf(c.weight_decay, p, m / root);
}

template <class T>
struct Squares {
  T params, updates;

  __device__ void add(Squares other) {
    params += other.params;
    updates += other.updates;
  }
};

// The sum over the block's threads, in a fixed order; of thread 0 alone.
template <class T>
__device__ Squares<T> sum_of_block(Squares<T> own) {
  __shared__ Squares<T> of_warp[k_warps];
  for (int distance = k_warp / 2; distance > 0; distance /= 2) {
    own.add({of_lane_behind(own.params, distance), of_lane_behind(own.updates, distance)});
  }
  if (threadIdx.x % k_warp == 0) of_warp[threadIdx.x / k_warp] = own;
  __syncthreads();
  Squares<T> sum = of_warp[0];
  for (int warp = 1; warp < k_warps; ++warp)
    sum.add(of_warp[warp]);
  return sum;
}

template <class Param, class Grad>
class MomentsWork {
 public:
  __device__ MomentsWork(const LambCoefficients& coefficients, const AdamArrays& arrays, int64_t begin)
      : c_(coefficients),
        param_(static_cast<const Param*>(arrays.param) + begin),
        grad_(static_cast<const Grad*>(arrays.grad) + begin),
        exp_avg_(arrays.exp_avg + begin),
        exp_avg_sq_(arrays.exp_avg_sq + begin) {}

  __device__ bool aligned() const { return packs_aligned(param_, grad_, exp_avg_, exp_avg_sq_); }

  template <int width>
  __device__ void at(int64_t i) {
    const auto p = load_pack<width>(param_ + i);
    const auto g = load_pack<width>(grad_ + i);
    auto m = load_pack<width>(exp_avg_ + i);
    auto v = load_pack<width>(exp_avg_sq_ + i);
#pragma unroll
    for (int k = 0; k < width; ++k)
      add(to_float(p.item[k]), to_float(g.item[k]) * c_.grad_scale, m.item[k], v.item[k]);
    store_pack(exp_avg_ + i, m);
    store_pack(exp_avg_sq_ + i, v);
  }

  __device__ Squares<float> squares() const { return squares_; }

 private:
  __device__ void add(float p, float g, float& m, float& v) {
    m = fmaf(c_.beta1, m, c_.one_minus_beta1 * g);
    v = fmaf(c_.beta2, v, c_.one_minus_beta2 * g * g);
    const float update = update_of(c_, p, m, v);
    squares_.add({p * p, update * update});
  }

  const LambCoefficients& c_;
  const Param* __restrict__ param_;
  const Grad* __restrict__ grad_;
  float* __restrict__ exp_avg_;
  float* __restrict__ exp_avg_sq_;
  Squares<float> squares_{0, 0};
};

template <class Param, class Grad>
__global__ void __launch_bounds__(k_threads) update_moments(const Table table, const LambCoefficients c,
                                                            const Position position, const Scratch scratch) {
  const Part part = own_part(table);
  MomentsWork<Param, Grad> work(c, table.tensors[part.tensor], part.begin);
  for_each_element(part.count, work);
  const Squares<float> sum = sum_of_block(work.squares());
  if (threadIdx.x != 0) return;
  const uint32_t block = position.blocks_before + blockIdx.x;
  scratch.param_squares[block] = sum.params;
  scratch.update_squares[block] = sum.updates;
  if (part.begin > 0) return;
  const uint32_t tensor = position.tensors_before + part.tensor;
  scratch.first_block[tensor] = block;
  scratch.block_count[tensor] = static_cast<uint32_t>(blocks_of(table.tensors[part.tensor].count));
}

// 1 where one of the norms is 0.
__device__ double trust_ratio(const Squares<double>& sum, const LambOptions& o) {
  if (sum.params == 0 || sum.updates == 0) return 1;
  const double ratio = sqrt(sum.params) / sqrt(sum.updates);
  if (ratio > o.max_coeff) return o.max_coeff;
  return ratio < o.min_coeff ? o.min_coeff : ratio;
}

// lr with both corrections.
__device__ double corrected_lr(const LambOptions& o) {
  const double lr = o.lr.value();
  if (!o.bias_correction) return lr;
  const int64_t step = o.step.value();
  return lr * sqrt(bias_correction(o.beta2, step)) / bias_correction(o.beta1, step);
}

// One block for each tensor.
__global__ void __launch_bounds__(k_threads)
    work_out_rates(const LambOptions options, const Scratch scratch) {
  const uint32_t first = scratch.first_block[blockIdx.x];
  const uint32_t count = scratch.block_count[blockIdx.x];
  Squares<double> own{0, 0};
#pragma unroll 8
  for (uint32_t i = threadIdx.x; i < count; i += k_threads)
    own.add({scratch.param_squares[first + i], scratch.update_squares[first + i]});
  const Squares<double> sum = sum_of_block(own);
  if (threadIdx.x != 0) return;
  scratch.rate[blockIdx.x] = static_cast<float>(corrected_lr(options) * trust_ratio(sum, options));
}

template <class Param>
class ParamWork {
 public:
  __device__ ParamWork(const LambCoefficients& coefficients, float rate, const AdamArrays& arrays,
                       int64_t begin)
      : c_(coefficients),
        rate_(rate),
        param_(static_cast<Param*>(arrays.param) + begin),
        exp_avg_(arrays.exp_avg + begin),
        exp_avg_sq_(arrays.exp_avg_sq + begin) {}

  __device__ bool aligned() const { return packs_aligned(param_, exp_avg_, exp_avg_sq_); }

  template <int width>
  __device__ void at(int64_t i) const {
    auto p = load_pack<width>(param_ + i);
    const auto m = load_pack<width>(exp_avg_ + i);
    const auto v = load_pack<width>(exp_avg_sq_ + i);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const float old = to_float(p.item[k]);
      p.item[k] = from_float<Param>(fmaf(-rate_, update_of(c_, old, m.item[k], v.item[k]), old));
    }
    store_pack(param_ + i, p);
  }

 private:
  const LambCoefficients& c_;
  float rate_;
  Param* __restrict__ param_;
  const float* __restrict__ exp_avg_;
  const float* __restrict__ exp_avg_sq_;
};

template <class Param>
__global__ void __launch_bounds__(k_threads) update_params(const Table table, const LambCoefficients c,
                                                           const Position position, const Scratch scratch) {
  const Part part = own_part(table);
  const float rate = scratch.rate[position.tensors_before + part.tensor];
  ParamWork<Param> work(c, rate, table.tensors[part.tensor], part.begin);
  for_each_element(part.count, work);
}

// launch(table, blocks, position) for one chunk of tensors after the other.
template <class Launch>
cudaError_t for_each_position(const std::vector<AdamArrays>& tensors, const Launch& launch) {
  Position position{0, 0};
  return for_each_table(tensors, [&](const Table& table, uint32_t blocks) {
    launch(table, blocks, position);
    position.blocks_before += blocks;
    position.tensors_before += table.count;
    return cudaGetLastError();
  });
}

struct LambLaunch {
  template <class Param, class Grad>
  static cudaError_t run(const std::vector<AdamArrays>& tensors, uint32_t tensors_with_elements,
                         const LambOptions& options, const Scratch& scratch, cudaStream_t stream) {
    static_assert(sizeof(Table) + sizeof(LambCoefficients) + sizeof(Position) + sizeof(Scratch) + 16 <=
                  k_max_argument_bytes);
    const LambCoefficients c = coefficients(options);
    cudaError_t error =
        for_each_position(tensors, [&](const Table& table, uint32_t blocks, Position position) {
          update_moments<Param, Grad><<<blocks, k_threads, 0, stream>>>(table, c, position, scratch);
        });
    if (error != cudaSuccess) return error;
    work_out_rates<<<tensors_with_elements, k_threads, 0, stream>>>(options, scratch);
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    return for_each_position(tensors, [&](const Table& table, uint32_t blocks, Position position) {
      update_params<Param><<<blocks, k_threads, 0, stream>>>(table, c, position, scratch);
    });
  }
};

struct Sizes {
  int64_t blocks, tensors;

  void add(int64_t count) {
    blocks += blocks_of(count);
    tensors += count > 0;
  }
  int64_t elements() const { return 2 * blocks + 3 * tensors; }
};

Scratch scratch_of(float* memory, const Sizes& sizes) {
  float* const update_squares = memory + sizes.blocks;
  uint32_t* const first_block = reinterpret_cast<uint32_t*>(update_squares + sizes.blocks);
  uint32_t* const block_count = first_block + sizes.tensors;
  return {memory, update_squares, first_block, block_count,
          reinterpret_cast<float*>(block_count + sizes.tensors)};
}

}  // namespace

int64_t lamb_scratch_elements(const std::vector<int64_t>& counts) {
  Sizes sizes{};
  for (const int64_t count : counts)
    sizes.add(count);
  return sizes.elements();
}

cudaError_t launch_fused_lamb(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              float* scratch, const LambOptions& options, cudaStream_t stream) {
  Sizes sizes{};
  for (const AdamArrays& tensor : tensors)
    sizes.add(tensor.count);
  if (sizes.blocks == 0) return cudaSuccess;
  if (sizes.blocks > k_max_blocks) return cudaErrorInvalidValue;
  return run_typed<LambLaunch>(param, grad, tensors, static_cast<uint32_t>(sizes.tensors), options,
                               scratch_of(scratch, sizes), stream);
}

}  // namespace dsbuild::ops
