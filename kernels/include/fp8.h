// float32 to and from 8-bit floats, by bits, so that every architecture and the host give the same codes.
#pragma once

#include <cstdint>
#include <cstring>

#include "host_device.h"

namespace dsbuild::ops {

// Sign, exponent, mantissa; neither rounds to infinity here.
struct E4m3 {  // no infinity, one NaN per sign: the format called "e4m3fn"
  static constexpr int mantissa_bits = 3;
  static constexpr int bias = 7;
  static constexpr uint32_t max_code = 0x7e;
  static constexpr float max_value = 448;
};
struct E5m2 {  // as IEEE 754 would have it
  static constexpr int mantissa_bits = 2;
  static constexpr int bias = 15;
  static constexpr uint32_t max_code = 0x7b;
  static constexpr float max_value = 57344;
};
constexpr uint32_t k_fp8_nan = 0x7f;

DSBUILD_HOST_DEVICE inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
DSBUILD_HOST_DEVICE inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// A power of two.
DSBUILD_HOST_DEVICE constexpr uint32_t float_exponent_bits(int exponent) {
  return static_cast<uint32_t>(exponent + 127) << 23;
}

// Rounds to nearest, ties to even; what is larger than the largest code, infinity too, becomes it; NaN stays.
template <class Format>
DSBUILD_HOST_DEVICE inline uint32_t encode_fp8(float value) {
  constexpr int dropped = 23 - Format::mantissa_bits;
  const uint32_t bits = float_bits(value);
  const uint32_t sign = (bits >> 24) & 0x80u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return k_fp8_nan;
  if (magnitude >= float_bits(Format::max_value)) return sign | Format::max_code;
  if (magnitude < float_exponent_bits(1 - Format::bias)) {
    // Adding this makes the last bit of a float the last bit of the subnormal code: the addition rounds.
    const float shift = float_of_bits(float_exponent_bits(1 - Format::bias + dropped));
    return sign | (float_bits(float_of_bits(magnitude) + shift) - float_bits(shift));
  }
  const uint32_t odd = (magnitude >> dropped) & 1u;
  const uint32_t rebias = static_cast<uint32_t>(127 - Format::bias) << 23;
  return sign | ((magnitude - rebias + ((1u << (dropped - 1)) - 1u) + odd) >> dropped);
}

// Exact.
template <class Format>
DSBUILD_HOST_DEVICE inline float decode_fp8(uint32_t code) {
  constexpr int dropped = 23 - Format::mantissa_bits;
  constexpr bool has_infinity = Format::max_code == 0x7b;
  const uint32_t sign = (code & 0x80u) << 24;
  const uint32_t magnitude = code & 0x7fu;
  if (magnitude > Format::max_code) {
    return float_of_bits(sign | (has_infinity && magnitude == 0x7c ? 0x7f800000u : 0x7fc00000u));
  }
  const float scale = float_of_bits(float_exponent_bits(127 - Format::bias));
  return float_of_bits(sign | float_bits(float_of_bits(magnitude << dropped) * scale));
}

}  // namespace dsbuild::ops
