// Grouped fp8 quantisation: the codec; its kernels are grouped.cuh's.
#include "fp8.cuh"
#include "fp_quantizer.h"
#include "grouped.cuh"

namespace dsbuild::ops {
namespace {

template <class Format>
struct Fp8Codec {
  using Bounds = LargestMagnitude;
  using Parameters = Scale;
  static constexpr int code_bits = 8;

  __device__ static Scale parameters(Bounds bounds) { return {scale_of(bounds, Format::max_value)}; }

  __device__ static Pack<uint8_t, k_width> encode(const Pack<float, k_width>& values, Scale p) {
    return fp8_codes<Format>(values, 1 / p.scale);
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
