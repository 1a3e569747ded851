// float32 to 8-bit floats on the device: the GPU's instruction where it has one, else by bits (fp8.h).
#pragma once

#include "fp8.h"
#include "low_precision.cuh"

namespace dsbuild::ops {

// Two codes, `low` in the lower byte. The instruction is there from sm_89 on, for toolkits that know it.
template <class Format>
__device__ inline uint32_t fp8_pair(float low, float high) {
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

// Of values times `inverse`, one over the scale.
template <class Format, int width>
__device__ Pack<uint8_t, width> fp8_codes(const Pack<float, width>& values, float inverse) {
  Pack<uint8_t, width> codes;
#pragma unroll
  for (int k = 0; k < width; k += 2) {
    const uint32_t pair = fp8_pair<Format>(values.item[k] * inverse, values.item[k + 1] * inverse);
    codes.item[k] = static_cast<uint8_t>(pair);
    codes.item[k + 1] = static_cast<uint8_t>(pair >> 8);
  }
  return codes;
}

}  // namespace dsbuild::ops
