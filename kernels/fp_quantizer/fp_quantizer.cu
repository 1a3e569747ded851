// Grouped fp8 quantisation. A thread owns 8 neighbouring elements, which stay in registers between the search
// for the group's largest magnitude and the conversion, so that memory is read once.
#include "fp8.h"
#include "fp_quantizer.h"
#include "low_precision.cuh"

namespace dsbuild::ops {
namespace {

constexpr int k_width = 8;
constexpr int k_threads = 256;
constexpr int k_warp = 32;
constexpr unsigned k_all_lanes = 0xffffffffu;
constexpr float k_smallest_scale = 1.17549435e-38f;  // the smallest normal float: its inverse is finite
static_assert(k_width == k_group_step, "a thread's elements belong to one group");

struct Shape {
  int64_t count;
  int group_size;
  int threads_per_group;
  bool aligned;  // all arrays allow loads and stores of 8 elements
};

// Two codes, `low` in the lower byte. The instruction is there from sm_89 on, for toolkits that know it.
template <class Format>
__device__ uint32_t fp8_pair(float low, float high) {
#if __CUDA_ARCH__ >= 900 || \
    (__CUDA_ARCH__ >= 890 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)
  uint16_t codes;
  if constexpr (Format::mantissa_bits == 3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  }
  return codes;
#else
  return encode_fp8<Format>(low) | encode_fp8<Format>(high) << 8;
#endif
}

// A thread's elements: all 8 at once where that is possible, else the `count` that it has.
template <class T>
__device__ Pack<T, k_width> load_items(const T* from, int count, bool aligned) {
  if (aligned && count == k_width) return load_pack<k_width>(from);
  Pack<T, k_width> pack{};
#pragma unroll
  for (int k = 0; k < k_width; ++k) {
    if (k < count) pack.item[k] = from[k];
  }
  return pack;
}

template <class T>
__device__ void store_items(T* to, const Pack<T, k_width>& pack, int count, bool aligned) {
  if (aligned && count == k_width) {
    store_pack(to, pack);
    return;
  }
#pragma unroll
  for (int k = 0; k < k_width; ++k) {
    if (k < count) to[k] = pack.item[k];
  }
}

template <class T>
__device__ Pack<float, k_width> floats_of(const Pack<T, k_width>& items) {
  Pack<float, k_width> floats;
#pragma unroll
  for (int k = 0; k < k_width; ++k)
    floats.item[k] = to_float(items.item[k]);
  return floats;
}

// Infinities and NaNs have no say in the scale.
__device__ float largest_finite(const Pack<float, k_width>& values) {
  float largest = 0;
#pragma unroll
  for (int k = 0; k < k_width; ++k) {
    const float magnitude = fabsf(values.item[k]);
    if (magnitude < INFINITY) largest = fmaxf(largest, magnitude);
  }
  return largest;
}

__device__ float max_of_lanes(float value, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(k_all_lanes, value, offset));
  }
  return value;
}

// The largest of a whole block's values.
__device__ float max_of_block(float value) {
  __shared__ float of_warp[k_warp];
  value = max_of_lanes(value, k_warp);
  if (threadIdx.x % k_warp == 0) of_warp[threadIdx.x / k_warp] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / k_warp;
  const int lane = threadIdx.x % k_warp;
  return max_of_lanes(lane < warps ? of_warp[lane] : 0, k_warp);
}

template <class Format>
__device__ float scale_of(float largest) {
  return largest > 0 ? fmaxf(largest / Format::max_value, k_smallest_scale) : 1;
}

template <class Format>
__device__ Pack<uint8_t, k_width> encode_pack(const Pack<float, k_width>& values, float inverse) {
  Pack<uint8_t, k_width> codes;
#pragma unroll
  for (int k = 0; k < k_width; k += 2) {
    const uint32_t pair = fp8_pair<Format>(values.item[k] * inverse, values.item[k + 1] * inverse);
    codes.item[k] = static_cast<uint8_t>(pair);
    codes.item[k + 1] = static_cast<uint8_t>(pair >> 8);
  }
  return codes;
}

// threads_per_group is a power of two up to a warp, so several groups share a block; or, for groups larger
// than a warp's elements, the whole block has one group. Threads beyond their group's end hold nothing.
template <class T, class Format, bool block_per_group>
__global__ void quantize_kernel(const T* __restrict__ values, uint8_t* __restrict__ codes,
                                float* __restrict__ scales, const Shape shape) {
  const int groups_per_block = block_per_group ? 1 : static_cast<int>(blockDim.x) / shape.threads_per_group;
  const int thread = block_per_group ? threadIdx.x : threadIdx.x % shape.threads_per_group;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * groups_per_block +
                        (block_per_group ? 0 : threadIdx.x / shape.threads_per_group);
  const int64_t group_left = shape.count - group * shape.group_size;
  const int group_end = static_cast<int>(group_left < shape.group_size ? group_left : shape.group_size);
  const int own = min(k_width, group_end - thread * k_width);
  const int64_t begin = group * shape.group_size + thread * k_width;
  const auto floats = floats_of(load_items(values + begin, own, shape.aligned));
  const float own_largest = largest_finite(floats);
  const float largest =
      block_per_group ? max_of_block(own_largest) : max_of_lanes(own_largest, shape.threads_per_group);
  const float scale = scale_of<Format>(largest);
  if (own <= 0) return;
  store_items(codes + begin, encode_pack<Format>(floats, 1 / scale), own, shape.aligned);
  if (thread == 0) scales[group] = scale;
}

template <class T, class Format>
__global__ void __launch_bounds__(k_threads)
    dequantize_kernel(const uint8_t* __restrict__ codes, const float* __restrict__ scales,
                      T* __restrict__ values, const Shape shape) {
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * k_threads + threadIdx.x;
  const int64_t begin = thread * k_width;
  if (begin >= shape.count) return;
  const int own = static_cast<int>(min(static_cast<int64_t>(k_width), shape.count - begin));
  const float scale = scales[static_cast<uint64_t>(thread) / (shape.group_size / k_width)];
  const auto raw = load_items(codes + begin, own, shape.aligned);
  Pack<T, k_width> result;
#pragma unroll
  for (int k = 0; k < k_width; ++k) {
    result.item[k] = from_float<T>(decode_fp8<Format>(raw.item[k]) * scale);
  }
  store_items(values + begin, result, own, shape.aligned);
}

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int threads_of_group(int group_size) {
  const int needed = static_cast<int>(ceil_div(group_size, k_width));
  if (needed > k_warp) return static_cast<int>(ceil_div(needed, k_warp)) * k_warp;
  int threads = 1;
  while (threads < needed)
    threads *= 2;
  return threads;
}

bool packs_aligned(const Fp8Values& a) {
  return reinterpret_cast<uintptr_t>(a.values) % 16 == 0 && reinterpret_cast<uintptr_t>(a.codes) % 8 == 0;
}

Shape shape_of(const Fp8Values& a) {
  return {a.count, a.group_size, threads_of_group(a.group_size), packs_aligned(a)};
}

struct Quantize {
  template <class T, class Format>
  static void launch(const Fp8Values& a, cudaStream_t stream) {
    const Shape shape = shape_of(a);
    const int64_t groups = ceil_div(a.count, a.group_size);
    const T* values = static_cast<const T*>(a.values);
    if (shape.threads_per_group > k_warp) {
      quantize_kernel<T, Format, true><<<static_cast<unsigned>(groups), shape.threads_per_group, 0, stream>>>(
          values, a.codes, a.scales, shape);
    } else {
      const int64_t blocks = ceil_div(groups, k_threads / shape.threads_per_group);
      quantize_kernel<T, Format, false>
          <<<static_cast<unsigned>(blocks), k_threads, 0, stream>>>(values, a.codes, a.scales, shape);
    }
  }
};

struct Dequantize {
  template <class T, class Format>
  static void launch(const Fp8Values& a, cudaStream_t stream) {
    const int64_t blocks = ceil_div(a.count, k_threads * k_width);
    dequantize_kernel<T, Format><<<static_cast<unsigned>(blocks), k_threads, 0, stream>>>(
        a.codes, a.scales, static_cast<T*>(a.values), shape_of(a));
  }
};

template <class Work, class T>
void launch_format(const Fp8Values& a, Fp8Format format, cudaStream_t stream) {
  if (format == Fp8Format::e4m3) {
    Work::template launch<T, E4m3>(a, stream);
  } else {
    Work::template launch<T, E5m2>(a, stream);
  }
}

// A block has at least k_width elements, so this bound on elements bounds the grid too.
constexpr int64_t k_max_count = int64_t{0x7fffffff} * k_width;

template <class Work>
cudaError_t launch_any(const Fp8Values& a, Fp8Format format, cudaStream_t stream) {
  if (a.count == 0) return cudaSuccess;
  if (a.count > k_max_count) return cudaErrorInvalidValue;
  switch (a.type) {
    case FloatType::float32:
      launch_format<Work, float>(a, format, stream);
      break;
    case FloatType::float16:
      launch_format<Work, Half>(a, format, stream);
      break;
    case FloatType::bfloat16:
      launch_format<Work, Bfloat16>(a, format, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_fp_quantize(const Fp8Values& arrays, Fp8Format format, cudaStream_t stream) {
  return launch_any<Quantize>(arrays, format, stream);
}

cudaError_t launch_fp_dequantize(const Fp8Values& arrays, Fp8Format format, cudaStream_t stream) {
  return launch_any<Dequantize>(arrays, format, stream);
}

}  // namespace dsbuild::ops
