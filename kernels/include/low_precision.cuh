// float16 and bfloat16 as storage, converted to and from float on every architecture. Arithmetic is in float.
// Without CUDA's own headers for them, which would double the compile time of a small kernel.
#pragma once

#include <cstdint>

namespace dsbuild::ops {

struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

__device__ inline float to_float(float value) {
  return value;
}

__device__ inline float to_float(Half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}

__device__ inline float to_float(Bfloat16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}

template <class T>
__device__ T from_float(float value);

template <>
__device__ inline float from_float<float>(float value) {
  return value;
}

template <>
__device__ inline Half from_float<Half>(float value) {
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

// The instruction exists from sm_80 on; below, the same rounding (nearest, ties to even) by hand.
template <>
__device__ inline Bfloat16 from_float<Bfloat16>(float value) {
  Bfloat16 result;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
#else
  const uint32_t bits = __float_as_uint(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  result.bits = static_cast<uint16_t>(value != value ? 0x7fffu : rounded >> 16);
#endif
  return result;
}

template <class T>
__device__ T not_a_number();

template <>
__device__ inline float not_a_number<float>() {
  return __uint_as_float(0x7fffffffu);
}

template <>
__device__ inline Half not_a_number<Half>() {
  return {0x7fff};
}

template <>
__device__ inline Bfloat16 not_a_number<Bfloat16>() {
  return {0x7fff};
}

// `count` elements that are loaded and stored at once; its address must be a multiple of its size, or of 16.
template <class T, int count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T item[count];
};

template <int count, class T>
__device__ Pack<T, count> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, count>*>(from);
}

template <int count, class T>
__device__ void store_pack(T* to, const Pack<T, count>& pack) {
  *reinterpret_cast<Pack<T, count>*>(to) = pack;
}

__device__ inline bool aligned_to(const void* pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

}  // namespace dsbuild::ops
