// float16 and bfloat16 as storage, converted to and from float on every architecture. Arithmetic is in float.
// Without CUDA's own headers for them, which would double the compile time of a small kernel.
#pragma once

#include <cstdint>
#include <cstring>

#include "float_type.h"
#include "gpu_instructions.cuh"

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
  return float_of_half(value.bits);
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
  return {half_of_float(value)};
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

// The same for memory that no thread of the kernel writes to: such a load may move before stores.
template <int count, class T>
__device__ Pack<T, count> load_constant_pack(const T* from) {
  constexpr int words = sizeof(Pack<T, count>) / sizeof(uint4);
  static_assert(words * sizeof(uint4) == sizeof(Pack<T, count>), "a pack is whole words of 16 bytes");
  uint4 raw[words];
#pragma unroll
  for (int i = 0; i < words; ++i)
    raw[i] = __ldg(reinterpret_cast<const uint4*>(from) + i);
  Pack<T, count> pack;
  memcpy(&pack, raw, sizeof pack);
  return pack;
}

template <int count, class T>
__device__ void store_pack(T* to, const Pack<T, count>& pack) {
  *reinterpret_cast<Pack<T, count>*>(to) = pack;
}

template <int count, class T>
__device__ Pack<float, count> floats_of(const Pack<T, count>& items) {
  Pack<float, count> floats;
#pragma unroll
  for (int k = 0; k < count; ++k)
    floats.item[k] = to_float(items.item[k]);
  return floats;
}

// Of 16 bytes. Compilers make more of the same by way of a pack: they take each number out of its word first.
template <class T>
__device__ Pack<float, 16 / sizeof(T)> floats_of_words(const uint4& words) {
  Pack<T, 16 / sizeof(T)> items;
  memcpy(&items, &words, sizeof items);
  return floats_of(items);
}

template <>
__device__ inline Pack<float, 8> floats_of_words<Bfloat16>(const uint4& words) {
  const uint32_t pairs[] = {words.x, words.y, words.z, words.w};
  Pack<float, 8> floats;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    floats.item[2 * i] = __uint_as_float(pairs[i] << 16);
    floats.item[2 * i + 1] = __uint_as_float(pairs[i] & 0xffff0000u);
  }
  return floats;
}

// The first number in the lower half.
template <class T>
__device__ uint32_t rounded_pair(float low, float high) {
  return from_float<T>(low).bits | static_cast<uint32_t>(from_float<T>(high).bits) << 16;
}

#if __CUDA_ARCH__ >= 800
template <>
__device__ inline uint32_t rounded_pair<Half>(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

template <>
__device__ inline uint32_t rounded_pair<Bfloat16>(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
#endif

template <class T, int count>
__device__ Pack<T, count> rounded(const Pack<float, count>& values) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return values;
  } else {
    uint32_t words[count / 2];
#pragma unroll
    for (int i = 0; i < count / 2; ++i)
      words[i] = rounded_pair<T>(values.item[2 * i], values.item[2 * i + 1]);
    Pack<T, count> items;
    static_assert(sizeof items == sizeof words, "whole words");
    memcpy(&items, words, sizeof items);
    return items;
  }
}

__host__ __device__ inline bool aligned_to(const void* pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Calls `work` with a value of the type; returns what it returns.
template <class Work>
auto with_type(FloatType type, const Work& work) {
  if (type == FloatType::float16) return work(Half{});
  if (type == FloatType::bfloat16) return work(Bfloat16{});
  return work(float{});
}

}  // namespace dsbuild::ops
