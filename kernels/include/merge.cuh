// Merging the values of threads, for any type that has none(), merge(other) and of_lane(distance). Every
// thread takes part, in one fixed order, and all get the same bits.
#pragma once

#include "gpu_instructions.cuh"

namespace dsbuild::ops {

constexpr unsigned k_all_lanes = 0xffffffffu;

// Merges the values of `lanes` neighbouring lanes, a power of two.
template <class Value>
__device__ Value merged_in_lanes(Value value, int lanes) {
#pragma unroll
  for (int distance = k_warp / 2; distance > 0; distance /= 2) {
    if (distance < lanes) value.merge(value.of_lane(distance));
  }
  return value;
}

// Merges the values of a block of whole warps. A kernel that calls it again and again gives turns 0 and 1 in
// alternation: then no warp overwrites what another has yet to read.
template <class Value>
__device__ Value merged_in_block(Value value, int turn = 0) {
  __shared__ Value of_warp[2][k_warp];
  value = merged_in_lanes(value, k_warp);
  if (threadIdx.x % k_warp == 0) of_warp[turn][threadIdx.x / k_warp] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / k_warp;
  const int lane = static_cast<int>(threadIdx.x) % k_warp;
  return merged_in_lanes(lane < warps ? of_warp[turn][lane] : Value::none(), k_warp);
}

// `count` sums.
template <int count>
struct Sums {
  float of[count];

  __device__ static Sums none() {
    Sums sums;
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums.of[i] = 0;
    return sums;
  }
  __device__ void merge(const Sums& other) {
#pragma unroll
    for (int i = 0; i < count; ++i)
      of[i] += other.of[i];
  }
  __device__ Sums of_lane(int distance) const {
    Sums sums;
#pragma unroll
    for (int i = 0; i < count; ++i)
      sums.of[i] = of_xor_lane(of[i], distance);
    return sums;
  }
};

// Adds up one or two sums over many lanes. The halves of a warp share two sums: each adds up one of them.
template <int count>
class SplitSums {
  static_assert(count == 1 || count == 2);
  static constexpr int k_lanes = k_warp / count;  // that add up one sum

 public:
  // The caller's number among these lanes, and the sum that it takes part in.
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % k_lanes; }
  __device__ static int own() { return static_cast<int>(threadIdx.x) / k_lanes % count; }

  // Adds up the warp's lanes. Returns the caller's sum.
  __device__ static float of_warp(const Sums<count>& sums) {
    if constexpr (count == 1) {
      return of_lanes(sums.of[0]);
    } else {
      const float here = own() == 0 ? sums.of[0] : sums.of[1];
      const float there = own() == 0 ? sums.of[1] : sums.of[0];
      return of_lanes(here + of_xor_lane(there, k_lanes));
    }
  }
  // Adds up arrays, of which each caller gives the one of its own sum. Returns all sums.
  __device__ static Sums<count> of_arrays(const float* own_array, int size) {
    float part = 0;
#pragma unroll 1
    for (int i = lane(); i < size; i += k_lanes)
      part += own_array[i];
    const float sum = of_lanes(part);
    if constexpr (count == 1) {
      return {{sum}};
    } else {
      const float other = of_xor_lane(sum, k_lanes);
      return {{own() == 0 ? sum : other, own() == 0 ? other : sum}};
    }
  }

 private:
  __device__ static float of_lanes(float value) { return merged_in_lanes(Sums<1>{{value}}, k_lanes).of[0]; }
};

}  // namespace dsbuild::ops
