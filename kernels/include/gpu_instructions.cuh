// Device functions that CUDA and HIP have under different names, or with different promises.
#pragma once

#include <cstdint>
#include <cstring>

#include "gpu_runtime.h"

namespace dsbuild::ops {

// CUDA's warp. AMD's wavefronts have 32 lanes or 64, by architecture; a block is taken for warps of 32 there
// too, so that the same sums have the same order on all. Then half a wavefront is a warp, and no lane asks
// one of the other half.
constexpr int k_warp = 32;

// Of the lane whose number differs from the caller's in these bits, less than k_warp. All lanes take part.
template <class T>
__device__ T of_xor_lane(T value, int bits) {
#ifdef __HIP__
  return __shfl_xor(value, bits, k_warp);
#else
  return __shfl_xor_sync(0xffffffffu, value, bits);
#endif
}

// Of the lane `distance` further in the warp; the caller's where there is none. All lanes take part.
template <class T>
__device__ T of_lane_behind(T value, int distance) {
#ifdef __HIP__
  return __shfl_down(value, static_cast<unsigned>(distance), k_warp);
#else
  return __shfl_down_sync(0xffffffffu, value, distance);
#endif
}

// To the nearest integer, ties to even; NaN becomes 0, and what is out of range one at the range's end.
__device__ inline int nearest_integer(float value) {
#ifdef __HIP__
  constexpr float end =
      2147483520.0f;  // the largest float that is an int; a cast of more has no defined value
  return value != value ? 0 : static_cast<int>(rintf(fmaxf(-end, fminf(value, end))));
#else
  return __float2int_rn(value);
#endif
}

__device__ inline float float_of_half(uint16_t bits) {
#ifdef __HIP__
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return value;
#else
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#endif
}

// To nearest, ties to even.
__device__ inline uint16_t half_of_float(float value) {
  uint16_t bits;
#ifdef __HIP__
  const _Float16 half = static_cast<_Float16>(value);
  memcpy(&bits, &half, sizeof bits);
#else
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#endif
  return bits;
}

}  // namespace dsbuild::ops
