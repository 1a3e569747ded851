// Quantisation with one scale for a tensor, its codes as they are and transposed in one pass, and the scales.
#include <algorithm>

#include "fp8.cuh"
#include "fp8_linear.h"
#include "grouped.cuh"
#include "merge.cuh"

namespace dsbuild::ops {
namespace {

constexpr float k_largest_float = 3.40282347e+38f;
constexpr int k_flat_packs = 4;  // of a thread, on their way at once
constexpr int64_t k_flat_block = int64_t{k_threads} * k_width * k_flat_packs;  // elements

// The largest of all blocks. No magnitude is negative, and such floats are in the order of their bits; so the
// result does not depend on the order of the blocks.
__device__ void raise_to(float* amax, LargestMagnitude bounds) {
  atomicMax(reinterpret_cast<int*>(amax), __float_as_int(bounds.largest));
}

__device__ void gather_amax(float* amax, LargestMagnitude bounds) {
  bounds = merged_in_block(bounds);
  if (threadIdx.x == 0) raise_to(amax, bounds);
}

template <class T>
__device__ void add_all(LargestMagnitude& bounds, const Pack<T, k_width>& items) {
#pragma unroll
  for (int k = 0; k < k_width; ++k)
    bounds.add(to_float(items.item[k]));
}

// Packs of neighbouring elements, whatever their shape.
struct FlatPlace {
  int64_t begin;
  int count;
};

__device__ FlatPlace flat_place(int64_t block, int64_t elements, int pack) {
  const int64_t begin =
      block * k_flat_block + (int64_t{pack} * k_threads + static_cast<int>(threadIdx.x)) * k_width;
  const int64_t left = elements - begin;
  return {begin, static_cast<int>(left < k_width ? (left < 0 ? 0 : left) : k_width)};
}

template <class T>
__device__ void load_flat(Pack<T, k_width> (&items)[k_flat_packs], const T* values, int64_t block,
                          int64_t elements, bool aligned) {
#pragma unroll
  for (int p = 0; p < k_flat_packs; ++p) {
    const FlatPlace place = flat_place(block, elements, p);
    items[p] = load_items<k_width>(values + place.begin, place.count, aligned, not_a_number<T>());
  }
}

// How many blocks look for a tensor's largest magnitude.
int maxima_of(int64_t elements) {
  return static_cast<int>(std::min<int64_t>(ceil_div(elements, k_flat_block), k_fp8_maxima));
}

// One for each block.
template <class T>
__global__ void find_maxima(const T* __restrict__ values, int64_t elements, float* maxima, bool aligned) {
  LargestMagnitude bounds = LargestMagnitude::none();
  for (int64_t block = blockIdx.x; block * k_flat_block < elements; block += gridDim.x) {
    Pack<T, k_width> items[k_flat_packs];
    load_flat(items, values, block, elements, aligned);
#pragma unroll
    for (int p = 0; p < k_flat_packs; ++p)
      add_all(bounds, items[p]);
  }
  bounds = merged_in_block(bounds);
  if (threadIdx.x == 0) maxima[blockIdx.x] = bounds.largest;
}

// Of current scaling the tensor is read from its end: what was looked at last for the maxima is still in the
// cache.
__device__ int64_t block_in_order(const Fp8Codes& to) {
  return to.maxima == nullptr ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
}

// What the codes are made with. Of current scaling each block makes the scale for itself, of the maxima that
// the blocks of find_maxima have left.
template <class Format>
__device__ float inverse_scale(const Fp8Codes& to, int maxima) {
  if (to.maxima == nullptr) return 1 / *to.scale;
  LargestMagnitude bounds = LargestMagnitude::none();
  for (int i = static_cast<int>(threadIdx.x); i < maxima; i += k_threads)
    bounds.add(to.maxima[i]);
  const float scale = scale_of(merged_in_block(bounds), Format::max_value);
  if (blockIdx.x == 0 && threadIdx.x == 0) *to.scale = scale;
  return 1 / scale;
}

template <class Format, class T>
__global__ void quantize_flat(const T* __restrict__ values, int64_t elements, const Fp8Codes to, int maxima,
                              bool aligned) {
  const int64_t block = block_in_order(to);
  Pack<T, k_width> items[k_flat_packs];
  load_flat(items, values, block, elements, aligned);
  const float inverse = inverse_scale<Format>(to, maxima);
  LargestMagnitude bounds = LargestMagnitude::none();
#pragma unroll
  for (int p = 0; p < k_flat_packs; ++p) {
    const FlatPlace place = flat_place(block, elements, p);
    add_all(bounds, items[p]);
    store_items(to.codes + place.begin, fp8_codes<Format>(floats_of(items[p]), inverse), place.count,
                aligned);
  }
  if (to.amax != nullptr) gather_amax(to.amax, bounds);
}

// One block for a quantizer, one thread for a value of its history.
__global__ void update_scales(const Fp8History history) {
  const int quantizer = static_cast<int>(blockIdx.x);
  const int row = static_cast<int>(threadIdx.x);
  float* column = history.amax + quantizer;
  const float value = row < history.length ? column[row * history.quantizers] : 0;
  LargestMagnitude bounds = LargestMagnitude::none();
  bounds.add(value);
  bounds = merged_in_block(bounds);  // all have read by then
  if (row + 1 < history.length) column[(row + 1) * history.quantizers] = value;
  if (row != 0) return;
  column[0] = 0;
  const float largest = fminf(bounds.largest * history.factor, k_largest_float);
  if (largest > 0)
    history.scales[quantizer] = scale_of(LargestMagnitude{largest}, history.largest[quantizer]);
}

// A matrix is transposed by tiles of codes in shared memory. A thread makes words of the codes of 4 rows in
// one column; a warp's words lie in all 32 banks, when they are put (16 packs of 2 rows of words) and when
// they are taken (one column).
constexpr int k_tile = 128;  // rows and columns
constexpr int k_word = 4;    // codes
constexpr int k_tile_words = k_tile / k_word;
constexpr int k_packs_of_row = k_tile / k_width;
constexpr int k_word_rows = k_threads / k_packs_of_row;  // that a block makes at once
static_assert(k_tile_words == k_warp, "a warp takes a column");

struct Tile {
  uint32_t words[k_tile][k_tile_words];

  __device__ uint32_t& at(int column, int word) { return words[column][word ^ (column / k_width * 2)]; }
};

struct TileShape {
  int64_t rows, columns, tiles_across;
  bool aligned;        // rows of input and codes begin where whole packs may
  bool words_aligned;  // the same for words of the transpose
};

template <class Format, class T>
struct Quantizing {
  const T* __restrict__ values;
  Fp8Codes to;
  int maxima;
  using Item = T;

  __device__ T rest() const { return not_a_number<T>(); }
  __device__ const T* from() const { return values; }
  __device__ int64_t block() const { return block_in_order(to); }
  __device__ float prepare() const { return inverse_scale<Format>(to, maxima); }
  __device__ Pack<uint8_t, k_width> codes(const Pack<T, k_width>& items, float inverse,
                                          LargestMagnitude& bounds) const {
    add_all(bounds, items);
    return fp8_codes<Format>(floats_of(items), inverse);
  }
  __device__ void store(int64_t at, const Pack<uint8_t, k_width>& pack, int count, bool aligned) const {
    store_items(to.codes + at, pack, count, aligned);
  }
  __device__ void finish(LargestMagnitude bounds) const {
    if (to.amax != nullptr) gather_amax(to.amax, bounds);
  }
};

struct Transposing {
  const uint8_t* __restrict__ values;
  using Item = uint8_t;

  __device__ uint8_t rest() const { return 0; }
  __device__ const uint8_t* from() const { return values; }
  __device__ int64_t block() const { return blockIdx.x; }
  __device__ float prepare() const { return 1; }
  __device__ Pack<uint8_t, k_width> codes(const Pack<uint8_t, k_width>& items, float,
                                          LargestMagnitude&) const {
    return items;
  }
  __device__ void store(int64_t, const Pack<uint8_t, k_width>&, int, bool) const {}
  __device__ void finish(LargestMagnitude) const {}
};

__device__ int limited(int64_t left, int most) {
  return static_cast<int>(left < most ? (left < 0 ? 0 : left) : most);
}

__device__ void store_word(uint8_t* to, uint32_t word, int count, bool aligned) {
  if (aligned && count == k_word) {
    *reinterpret_cast<uint32_t*>(to) = word;
    return;
  }
  for (int k = 0; k < count; ++k)
    to[k] = static_cast<uint8_t>(word >> 8 * k);
}

template <class Work>
__global__ void transpose_tiles(const Work work, uint8_t* __restrict__ transposed, const TileShape shape) {
  __shared__ Tile tile;
  const int64_t block = work.block();
  const int64_t first_row = block / shape.tiles_across * k_tile;
  const int64_t first_column = block % shape.tiles_across * k_tile;
  const int pack = static_cast<int>(threadIdx.x) % k_packs_of_row;
  const int64_t column = first_column + pack * k_width;
  const int count = limited(shape.columns - column, k_width);
  const float prepared = work.prepare();
  LargestMagnitude bounds = LargestMagnitude::none();
#pragma unroll
  for (int begin = 0; begin < k_tile_words; begin += k_word_rows) {
    const int word_row = begin + static_cast<int>(threadIdx.x) / k_packs_of_row;
    const int64_t row = first_row + word_row * k_word;
    Pack<typename Work::Item, k_width> items[k_word];
#pragma unroll
    for (int r = 0; r < k_word; ++r) {
      items[r] = load_items<k_width>(work.from() + (row + r) * shape.columns + column,
                                     row + r < shape.rows ? count : 0, shape.aligned, work.rest());
    }
    uint32_t words[k_width] = {};
#pragma unroll
    for (int r = 0; r < k_word; ++r) {
      const Pack<uint8_t, k_width> codes = work.codes(items[r], prepared, bounds);
      work.store((row + r) * shape.columns + column, codes, row + r < shape.rows ? count : 0, shape.aligned);
#pragma unroll
      for (int k = 0; k < k_width; ++k)
        words[k] |= static_cast<uint32_t>(codes.item[k]) << 8 * r;
    }
#pragma unroll
    for (int k = 0; k < k_width; ++k)
      tile.at(pack * k_width + k, word_row) = words[k];
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % k_warp;
  const int64_t word_begin = first_row + lane * k_word;
  const int word_count = limited(shape.rows - word_begin, k_word);
  const int columns = limited(shape.columns - first_column, k_tile);
  for (int c = static_cast<int>(threadIdx.x) / k_warp; c < columns; c += k_threads / k_warp) {
    store_word(transposed + (first_column + c) * shape.rows + word_begin, tile.at(c, lane), word_count,
               shape.words_aligned);
  }
  work.finish(bounds);
}

template <class Work>
cudaError_t launch_tiles(const Work& work, uint8_t* transposed, int64_t rows, int64_t columns,
                         bool packs_aligned, cudaStream_t stream) {
  const int64_t across = ceil_div(columns, k_tile);
  const int64_t blocks = across * ceil_div(rows, k_tile);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const TileShape shape{rows, columns, across, packs_aligned && columns % k_width == 0,
                        aligned_to(transposed, k_word) && rows % k_word == 0};
  transpose_tiles<<<static_cast<unsigned>(blocks), k_threads, 0, stream>>>(work, transposed, shape);
  return cudaGetLastError();
}

// A tensor without elements has a scale too: 1.
template <class Format, class T>
cudaError_t quantize_typed(const Fp8Values& from, const Fp8Codes& to, cudaStream_t stream) {
  const T* values = static_cast<const T*>(from.values);
  const int64_t elements = from.rows * from.columns;
  const bool values_aligned = aligned_to(values, sizeof(uint4));
  const bool aligned = values_aligned && aligned_to(to.codes, k_width);
  const int maxima = to.maxima == nullptr ? 0 : maxima_of(elements);
  if (maxima > 0) {
    find_maxima<T><<<maxima, k_threads, 0, stream>>>(values, elements, to.maxima, values_aligned);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  }
  if (to.transposed != nullptr && elements > 0) {
    return launch_tiles(Quantizing<Format, T>{values, to, maxima}, to.transposed, from.rows, from.columns,
                        aligned, stream);
  }
  const int64_t blocks = std::max<int64_t>(1, ceil_div(elements, k_flat_block));
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  quantize_flat<Format, T>
      <<<static_cast<unsigned>(blocks), k_threads, 0, stream>>>(values, elements, to, maxima, aligned);
  return cudaGetLastError();
}

template <class Format>
cudaError_t quantize_as(const Fp8Values& from, const Fp8Codes& to, cudaStream_t stream) {
  switch (from.type) {
    case FloatType::float32:
      return quantize_typed<Format, float>(from, to, stream);
    case FloatType::float16:
      return quantize_typed<Format, Half>(from, to, stream);
    case FloatType::bfloat16:
      break;
  }
  return quantize_typed<Format, Bfloat16>(from, to, stream);
}

}  // namespace

cudaError_t launch_fp8_quantize(const Fp8Values& from, const Fp8Codes& to, Fp8Format format,
                                cudaStream_t stream) {
  if (from.rows * from.columns == 0 && to.maxima == nullptr) return cudaSuccess;
  return format == Fp8Format::e4m3 ? quantize_as<E4m3>(from, to, stream)
                                   : quantize_as<E5m2>(from, to, stream);
}

cudaError_t launch_fp8_scale_update(const Fp8History& history, cudaStream_t stream) {
  const int threads = static_cast<int>(ceil_div(history.length, k_warp)) * k_warp;
  update_scales<<<static_cast<unsigned>(history.quantizers), threads, 0, stream>>>(history);
  return cudaGetLastError();
}

cudaError_t launch_fp8_transpose(const uint8_t* codes, uint8_t* transposed, int64_t rows, int64_t columns,
                                 cudaStream_t stream) {
  if (rows * columns == 0) return cudaSuccess;
  return launch_tiles(Transposing{codes}, transposed, rows, columns, aligned_to(codes, k_width), stream);
}

}  // namespace dsbuild::ops
