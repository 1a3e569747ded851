// Integer codes, 8 or 4 bits each; docs/reference/ops.md has the formulas.
#pragma once

#include "grouped.cuh"

namespace dsbuild::ops {

// 8 codes: a byte each, or two in a byte, the first one in its lower half.
template <int bits>
__device__ Pack<uint8_t, bits> pack_codes(const Pack<int, k_width>& codes) {
  Pack<uint8_t, bits> bytes;
#pragma unroll
  for (int k = 0; k < bits; ++k) {
    const int code = bits == 8 ? codes.item[k]
                               : (codes.item[2 * k % k_width] & 15) | codes.item[(2 * k + 1) % k_width] << 4;
    bytes.item[k] = static_cast<uint8_t>(code);
  }
  return bytes;
}

// To nearest, ties to even; NaN becomes 0, and what is out of range the nearest code.
__device__ inline int to_code(float value, int lowest, int highest) {
  return max(lowest, min(highest, nearest_integer(value)));
}

template <int bits>
struct SymmetricCodec {
  using Bounds = LargestMagnitude;
  using Parameters = Scale;
  static constexpr int code_bits = bits;
  static constexpr int largest_code = (1 << (bits - 1)) - 1;

  __device__ static Scale parameters(Bounds bounds) { return {scale_of(bounds, largest_code)}; }

  __device__ static Pack<uint8_t, bits> encode(const Pack<float, k_width>& values, Scale p) {
    const float inverse = 1 / p.scale;
    Pack<int, k_width> codes;
#pragma unroll
    for (int k = 0; k < k_width; ++k)
      codes.item[k] = to_code(values.item[k] * inverse, -largest_code, largest_code);
    return pack_codes<bits>(codes);
  }

  __device__ static float decode(uint32_t code, Scale p) {
    const int sign_extended = static_cast<int>(code << (32 - bits)) >> (32 - bits);
    return static_cast<float>(sign_extended) * p.scale;
  }
};

// The smallest and the largest finite value.
struct FiniteRange {
  float low, high;
  __device__ static FiniteRange none() { return {INFINITY, -INFINITY}; }
  __device__ void add(float value) {
    if (is_finite(value)) merge({value, value});
  }
  __device__ void merge(FiniteRange other) {
    low = fminf(low, other.low);
    high = fmaxf(high, other.high);
  }
  __device__ FiniteRange of_lane(int distance) const {
    return {of_xor_lane(low, distance), of_xor_lane(high, distance)};
  }
};

struct ScaleAndOffset {
  float scale, offset;
  __device__ void store(const GroupArrays& arrays, int64_t group) const {
    arrays.scales[group] = scale;
    arrays.offsets[group] = offset;
  }
  __device__ static ScaleAndOffset load(const GroupArrays& arrays, int64_t group) {
    return {arrays.scales[group], arrays.offsets[group]};
  }
};

// Halves of everything: the difference of two finite floats may be infinite, that of their halves is not.
template <int bits>
struct AsymmetricCodec {
  using Bounds = FiniteRange;
  using Parameters = ScaleAndOffset;
  static constexpr int code_bits = bits;
  static constexpr int largest_code = (1 << bits) - 1;

  __device__ static ScaleAndOffset parameters(Bounds bounds) {
    if (bounds.low > bounds.high) return {1, 0};
    const float half_range = bounds.high * 0.5f - bounds.low * 0.5f;
    return {half_range > 0 ? fmaxf(half_range / (largest_code * 0.5f), k_smallest_scale) : 1, bounds.low};
  }

  __device__ static Pack<uint8_t, bits> encode(const Pack<float, k_width>& values, ScaleAndOffset p) {
    const float inverse_of_half = 1 / (p.scale * 0.5f);
    Pack<int, k_width> codes;
#pragma unroll
    for (int k = 0; k < k_width; ++k) {
      const float half = values.item[k] * 0.5f - p.offset * 0.5f;
      codes.item[k] = to_code(half * inverse_of_half, 0, largest_code);
    }
    return pack_codes<bits>(codes);
  }

  __device__ static float decode(uint32_t code, ScaleAndOffset p) {
    return __fmaf_rn(static_cast<float>(code), p.scale, p.offset);
  }
};

// With the codec of these bits, symmetric where there are no offsets.
template <class Work>
cudaError_t launch_integers(const GroupedValues& arrays, int bits, cudaStream_t stream) {
  if (arrays.offsets != nullptr) {
    return bits == 8 ? launch_groups<Work, AsymmetricCodec<8>>(arrays, stream)
                     : launch_groups<Work, AsymmetricCodec<4>>(arrays, stream);
  }
  return bits == 8 ? launch_groups<Work, SymmetricCodec<8>>(arrays, stream)
                   : launch_groups<Work, SymmetricCodec<4>>(arrays, stream);
}

}  // namespace dsbuild::ops
