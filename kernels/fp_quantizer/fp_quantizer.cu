// Grouped fp8 quantisation: the codec; its kernels are grouped.cuh's.
#include "fp8.h"
#include "fp_quantizer.h"
#include "grouped.cuh"

namespace dsbuild::ops {
namespace {

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

template <class Format>
struct Fp8Codec {
  using Bounds = LargestMagnitude;
  using Parameters = Scale;
  static constexpr int code_bits = 8;

  __device__ static Scale parameters(Bounds bounds) {
    return {bounds.largest > 0 ? fmaxf(bounds.largest / Format::max_value, k_smallest_scale) : 1};
  }

  __device__ static Pack<uint8_t, k_width> encode(const Pack<float, k_width>& values, Scale p) {
    const float inverse = 1 / p.scale;
    Pack<uint8_t, k_width> codes;
#pragma unroll
    for (int k = 0; k < k_width; k += 2) {
      const uint32_t pair = fp8_pair<Format>(values.item[k] * inverse, values.item[k + 1] * inverse);
      codes.item[k] = static_cast<uint8_t>(pair);
      codes.item[k + 1] = static_cast<uint8_t>(pair >> 8);
    }
    return codes;
  }

  __device__ static float decode(uint32_t code, Scale p) { return decode_fp8<Format>(code) * p.scale; }
};

template <class Work>
cudaError_t launch(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream) {
  return format == Fp8Format::e4m3 ? launch_groups<Work, Fp8Codec<E4m3>>(arrays, stream)
                                   : launch_groups<Work, Fp8Codec<E5m2>>(arrays, stream);
}

}  // namespace

cudaError_t launch_fp_quantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream) {
  return launch<QuantizeGroups>(arrays, format, stream);
}

cudaError_t launch_fp_dequantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream) {
  return launch<DequantizeGroups>(arrays, format, stream);
}

}  // namespace dsbuild::ops
