// The kernels of quantisation in groups, for any codec. A thread owns packs of 8 neighbouring elements, which
// stay in registers between the search for the group's bounds and the conversion: memory is read once.
//
// A codec has
//   Bounds      what a group's values say together: none(), add(float), merge(Bounds), of_lane(distance)
//   Parameters  of a group: store(GroupArrays, group), load(GroupArrays, group)
//   code_bits   8, or 4: two codes in a byte, the first one in its lower half
//   parameters(Bounds), encode(Pack<float, 8>, Parameters) to bytes, decode(uint32_t code, Parameters)
#pragma once

#include "ceil_div.h"
#include "gpu_runtime.h"
#include "grouped_values.h"
#include "low_precision.cuh"
#include "merge.cuh"

namespace dsbuild::ops {

constexpr int k_width = 8;  // elements of a pack
constexpr int k_packs = 2;  // of a thread: two loads on their way hide more of memory's latency than one
constexpr int k_thread_elements = k_width * k_packs;
constexpr int k_threads = 256;
static_assert(k_width == k_group_step, "a pack's elements belong to one group");

struct GroupArrays {
  float* scales;
  float* offsets;
};

struct GroupShape {
  int64_t count;
  int group_size;
  int threads_log2;  // of a group, where several share a block
  bool aligned;      // both arrays allow whole packs
};

// The parameters of a group that has a scale and nothing else.
struct Scale {
  float scale;
  __device__ void store(const GroupArrays& arrays, int64_t group) const { arrays.scales[group] = scale; }
  __device__ static Scale load(const GroupArrays& arrays, int64_t group) { return {arrays.scales[group]}; }
};

constexpr float k_smallest_scale = 1.17549435e-38f;  // the smallest normal float: its inverse is finite

__device__ inline bool is_finite(float value) {
  return fabsf(value) < INFINITY;
}

// The largest finite magnitude: infinities and NaNs have no say.
struct LargestMagnitude {
  float largest;
  __device__ static LargestMagnitude none() { return {0}; }
  __device__ void add(float value) {
    if (is_finite(value)) largest = fmaxf(largest, fabsf(value));
  }
  __device__ void merge(LargestMagnitude other) { largest = fmaxf(largest, other.largest); }
  __device__ LargestMagnitude of_lane(int distance) const { return {of_xor_lane(largest, distance)}; }
};

// The scale that makes the largest magnitude the largest code.
__device__ inline float scale_of(LargestMagnitude bounds, float largest_code) {
  return bounds.largest > 0 ? fmaxf(bounds.largest / largest_code, k_smallest_scale) : 1;
}

// A pack: whole where that is possible, else the `count` elements that there are, and `rest` for the others.
template <int width, class T>
__device__ Pack<T, width> load_items(const T* from, int count, bool aligned, T rest) {
  if (aligned && count >= width) return load_pack<width>(from);
  Pack<T, width> pack;
#pragma unroll
  for (int k = 0; k < width; ++k)
    pack.item[k] = k < count ? from[k] : rest;
  return pack;
}

template <int width, class T>
__device__ void store_items(T* to, const Pack<T, width>& pack, int count, bool aligned) {
  if (aligned && count >= width) {
    store_pack(to, pack);
    return;
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (k < count) to[k] = pack.item[k];
  }
}

// Which elements a thread has. The threads of a group lie in one warp, whose other groups are its neighbours;
// or, for groups larger than a warp's elements, the whole block has one group.
struct Place {
  int64_t group;
  int64_t group_begin;
  int thread, threads;  // of the group
  int group_count;      // elements of the group, 0 or less where there is none

  // Pack p of `width` elements begins here, within the group; neighbouring threads have neighbouring packs.
  template <int width>
  __device__ int begin(int p) const {
    return (thread + p * threads) * width;
  }
  // Elements of pack p, 0 or less beyond the group's end.
  template <int width>
  __device__ int count(int p) const {
    return min(width, group_count - begin<width>(p));
  }
};

template <bool block_per_group>
__device__ Place own_place(const GroupShape& shape) {
  Place place;
  const int threads_log2 = block_per_group ? 0 : shape.threads_log2;
  place.threads = block_per_group ? static_cast<int>(blockDim.x) : 1 << threads_log2;
  place.thread = static_cast<int>(block_per_group ? threadIdx.x : threadIdx.x & (place.threads - 1));
  place.group = block_per_group
                    ? static_cast<int64_t>(blockIdx.x)
                    : (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) >> threads_log2;
  place.group_begin = place.group * shape.group_size;
  const int64_t left = shape.count - place.group_begin;
  place.group_count = static_cast<int>(left < shape.group_size ? (left < 0 ? 0 : left) : shape.group_size);
  return place;
}

// Where the codes of a pack are, and how many bytes of them there are (0 or less beyond the group's end).
template <class Codec, int width>
__device__ int64_t code_begin(const Place& place, int p) {
  return (place.group_begin + place.begin<width>(p)) / width * (width * Codec::code_bits / 8);
}
template <class Codec, int width>
__device__ int code_count(const Place& place, int p) {
  return (place.count<width>(p) * Codec::code_bits + 7) / 8;
}

// Of a pack's bytes.
template <int bits, int bytes>
__device__ uint32_t code_of(const Pack<uint8_t, bytes>& raw, int k) {
  return bits == 8 ? raw.item[k % bytes] : raw.item[k / 2 % bytes] >> k % 2 * 4 & 15;
}

// Every thread takes part in the search, also one that has no elements: NaN has no say in any bounds.
template <class Codec, class T, bool block_per_group>
__global__ void quantize_groups(const T* __restrict__ values, uint8_t* __restrict__ codes,
                                const GroupArrays arrays, const GroupShape shape) {
  const Place place = own_place<block_per_group>(shape);
  Pack<T, k_width> items[k_packs];
#pragma unroll
  for (int p = 0; p < k_packs; ++p) {
    items[p] = load_items<k_width>(values + place.group_begin + place.begin<k_width>(p),
                                   place.count<k_width>(p), shape.aligned, not_a_number<T>());
  }
  auto bounds = Codec::Bounds::none();
#pragma unroll
  for (int p = 0; p < k_packs; ++p) {
#pragma unroll
    for (int k = 0; k < k_width; ++k)
      bounds.add(to_float(items[p].item[k]));
  }
  bounds = block_per_group ? merged_in_block(bounds) : merged_in_lanes(bounds, place.threads);
  const auto parameters = Codec::parameters(bounds);
#pragma unroll
  for (int p = 0; p < k_packs; ++p) {
    store_items(codes + code_begin<Codec, k_width>(place, p), Codec::encode(floats_of(items[p]), parameters),
                code_count<Codec, k_width>(place, p), shape.aligned);
  }
  if (place.thread == 0 && place.group_count > 0) parameters.store(arrays, place.group);
}

// Packs of 16 bytes of values: a warp's store is without gaps then, whatever their type.
template <class Codec, class T, bool block_per_group>
__global__ void dequantize_groups(const uint8_t* __restrict__ codes, T* __restrict__ values,
                                  const GroupArrays arrays, const GroupShape shape) {
  constexpr int width = 16 / sizeof(T);
  constexpr int packs = k_thread_elements / width;
  constexpr int bytes = width * Codec::code_bits / 8;
  const Place place = own_place<block_per_group>(shape);
  if (place.count<width>(0) <= 0) return;
  const auto parameters = Codec::Parameters::load(arrays, place.group);
  Pack<uint8_t, bytes> raw[packs];
#pragma unroll
  for (int p = 0; p < packs; ++p) {
    raw[p] = load_items<bytes>(codes + code_begin<Codec, width>(place, p), code_count<Codec, width>(place, p),
                               shape.aligned, uint8_t{0});
  }
#pragma unroll
  for (int p = 0; p < packs; ++p) {
    Pack<T, width> items;
#pragma unroll
    for (int k = 0; k < width; ++k)
      items.item[k] = from_float<T>(Codec::decode(code_of<Codec::code_bits>(raw[p], k), parameters));
    store_items(values + place.group_begin + place.begin<width>(p), items, place.count<width>(p),
                shape.aligned);
  }
}

struct GroupGrid {
  int64_t blocks;
  int threads;
  bool block_per_group;
  int threads_log2;  // of a group, where several share a block
};

inline GroupGrid grid_of(const GroupedValues& a) {
  const int64_t groups = ceil_div(a.count, a.group_size);
  const int64_t threads = ceil_div(a.group_size, k_thread_elements);
  if (threads > k_warp) return {groups, static_cast<int>(ceil_div(threads, k_warp)) * k_warp, true, 0};
  int log2 = 0;
  while (1 << log2 < threads)
    ++log2;
  return {ceil_div(groups, k_threads >> log2), k_threads, false, log2};
}

struct QuantizeGroups {
  template <class Codec, class T, bool block_per_group>
  static void launch(const GroupedValues& a, const GroupGrid& grid, const GroupShape& shape,
                     cudaStream_t stream) {
    quantize_groups<Codec, T, block_per_group>
        <<<static_cast<unsigned>(grid.blocks), grid.threads, 0, stream>>>(
            static_cast<const T*>(a.values), a.codes, {a.scales, a.offsets}, shape);
  }
};

struct DequantizeGroups {
  template <class Codec, class T, bool block_per_group>
  static void launch(const GroupedValues& a, const GroupGrid& grid, const GroupShape& shape,
                     cudaStream_t stream) {
    dequantize_groups<Codec, T, block_per_group>
        <<<static_cast<unsigned>(grid.blocks), grid.threads, 0, stream>>>(a.codes, static_cast<T*>(a.values),
                                                                          {a.scales, a.offsets}, shape);
  }
};

template <class Work, class Codec, class T>
cudaError_t launch_typed(const GroupedValues& a, cudaStream_t stream) {
  const GroupGrid grid = grid_of(a);
  if (grid.blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const bool aligned = reinterpret_cast<uintptr_t>(a.values) % sizeof(uint4) == 0 &&
                       reinterpret_cast<uintptr_t>(a.codes) % Codec::code_bits == 0;  // 8 codes
  const GroupShape shape{a.count, a.group_size, grid.threads_log2, aligned};
  if (grid.block_per_group) {
    Work::template launch<Codec, T, true>(a, grid, shape, stream);
  } else {
    Work::template launch<Codec, T, false>(a, grid, shape, stream);
  }
  return cudaGetLastError();
}

// On `stream` of the current device.
template <class Work, class Codec>
cudaError_t launch_groups(const GroupedValues& a, cudaStream_t stream) {
  if (a.count == 0) return cudaSuccess;
  return with_type(a.type, [&](auto value) { return launch_typed<Work, Codec, decltype(value)>(a, stream); });
}

}  // namespace dsbuild::ops
