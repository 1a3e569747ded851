// __hip_bfloat16 of HIP 5.7 and newer, with what DeepSpeed calls; beside older headers.
#pragma once

#include <hip/hip_fp16.h>

struct __hip_bfloat16_raw {
  unsigned short x;
};
struct __hip_bfloat16 {
  __hip_bfloat16() = default;
  __host__ __device__ constexpr __hip_bfloat16(__hip_bfloat16_raw raw) : data(raw.x) {}
  unsigned short data;
};
struct __hip_bfloat162 {
  __hip_bfloat16 x, y;
};

__host__ __device__ inline float __bfloat162float(__hip_bfloat16 value) {
  return __builtin_bit_cast(float, static_cast<unsigned>(value.data) << 16);
}
__host__ __device__ inline __hip_bfloat16 __float2bfloat16(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const unsigned short rounded = is_nan ? 0x7fffU : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  return __hip_bfloat16_raw{rounded};
}
__host__ __device__ inline bool operator>(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __bfloat162float(a) > __bfloat162float(b);
}
__host__ __device__ inline bool operator<(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __bfloat162float(a) < __bfloat162float(b);
}
__host__ __device__ inline __hip_bfloat16 operator+(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __float2bfloat16(__bfloat162float(a) + __bfloat162float(b));
}
__host__ __device__ inline __hip_bfloat16 operator-(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __float2bfloat16(__bfloat162float(a) - __bfloat162float(b));
}
__host__ __device__ inline __hip_bfloat16 operator*(__hip_bfloat16 a, __hip_bfloat16 b) {
  return __float2bfloat16(__bfloat162float(a) * __bfloat162float(b));
}
__host__ __device__ inline __hip_bfloat162 operator+(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.x + b.x, a.y + b.y};
}
__host__ __device__ inline __hip_bfloat162 operator*(__hip_bfloat162 a, __hip_bfloat162 b) {
  return {a.x * b.x, a.y * b.y};
}

__host__ __device__ inline __hip_bfloat16 __double2bfloat16(double value) {
  return __float2bfloat16(static_cast<float>(value));
}
__host__ __device__ inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 value) {
  return {value, value};
}
__host__ __device__ inline __hip_bfloat162 __float2bfloat162_rn(float value) {
  return __bfloat162bfloat162(__float2bfloat16(value));
}
__host__ __device__ inline __hip_bfloat162 __float22bfloat162_rn(float2 value) {
  return {__float2bfloat16(value.x), __float2bfloat16(value.y)};
}
__host__ __device__ inline float2 __bfloat1622float2(__hip_bfloat162 value) {
  return {__bfloat162float(value.x), __bfloat162float(value.y)};
}

#define DSBUILD_INTEGER(type, word)                                              \
  __host__ __device__ inline type __bfloat162##word##_rn(__hip_bfloat16 value) { \
    return static_cast<type>(__builtin_rintf(__bfloat162float(value)));          \
  }                                                                              \
  __host__ __device__ inline __hip_bfloat16 __##word##2bfloat16_rn(type value) { \
    return __float2bfloat16(static_cast<float>(value));                          \
  }
DSBUILD_INTEGER(int, int)
DSBUILD_INTEGER(unsigned, uint)
DSBUILD_INTEGER(short, short)
DSBUILD_INTEGER(unsigned short, ushort)
DSBUILD_INTEGER(long long, ll)
DSBUILD_INTEGER(unsigned long long, ull)
#undef DSBUILD_INTEGER
