// The forward pass, for rms_norm and layer_norm (`centred`). A row stays in the registers of a warp's lanes
// (norm_forward_lanes.cuh) or of a block: memory is read once. A row that is too long for that, or not
// aligned, is read anew at each look, mostly from a cache.
#pragma once

#include "norm_forward_lanes.cuh"

namespace dsbuild::ops {

constexpr LayoutLimits k_memory_limits{256, 1024};

// Threads of a block that has one row, with so many packs each.
constexpr int most_row_threads(int packs) {
  return 128 * packs;
}
// Of all its blocks on a multiprocessor, at least: with more, registers would not be enough for the packs.
constexpr int resident_row_threads(int packs) {
#if __CUDA_ARCH__ == 750
  return 1024;  // it has no more
#else
  return packs == 2 ? 1536 : 1024;
#endif
}

// Packs 0: such rows are too long.
inline RowLayout register_layout(const NormShape& shape, int width) {
  const int64_t row_packs = ceil_div(shape.hidden, width);
  if (shape.rows > k_most_int_rows) return {};
  for (const int packs : {1, 2}) {
    if (row_packs <= packs * k_warp) return layout_on_lanes(packs, ceil_div(row_packs, packs), k_lanes_block);
  }
  for (const int packs : {2, 4, 8}) {
    const int64_t threads = ceil_div(row_packs, packs);
    if (threads <= most_row_threads(packs)) return layout_on_block(packs, threads);
  }
  return {};
}

struct Moments {
  float mean, variance;
};

// Calls `visit` with each item of a row that the thread has.
template <class T, int packs, class PackAt, class Visit>
__device__ void for_each_item(const Columns& columns, const PackAt& pack_at, const Visit& visit) {
  for_each_pack<T, packs>(columns, [&](int p, int begin) {
    if (packs > 0 && begin >= columns.hidden) return;
    const auto x = pack_at(p);
#pragma unroll
    for (int k = 0; k < k_pack_width<T>; ++k) {
      if (packs > 0 || columns.has(begin, k)) visit(x.item[k]);
    }
  });
}

// By what is left of the row's items beside `shift`. `merged` adds up over the row; `one_item`: 1 / hidden.
template <class T, int packs, class PackAt, class Merged>
__device__ Moments moments_beside(float shift, float one_item, const Columns& columns, const PackAt& pack_at,
                                  Merged& merged) {
  auto sums = Sums<2>::none();
  for_each_item<T, packs>(columns, pack_at, [&](float item) {
    const float difference = item - shift;
    sums.of[0] += difference;
    sums.of[1] += difference * difference;
  });
  sums = merged(sums);
  const float rest = sums.of[0] * one_item;
  const float variance = sums.of[1] * one_item - rest * rest;
  return {shift + rest, variance < 0 ? 0 : variance};
}

constexpr float k_far = 16;  // the mean's square beside the variance

// In one pass beside the row's first item, which is as near to the mean as any. Where that is so far off that
// the difference of the squares would lose bits, in a second one beside the mean that the first has found:
// what rounding has left in that mean is corrected, and its square taken from the variance.
template <bool centred, class T, int packs, class PackAt, class Merged>
__device__ Moments moments_of(float first, float one_item, const Columns& columns, const PackAt& pack_at,
                              Merged& merged) {
  if constexpr (centred) {
    Moments found{first, 0};
#pragma unroll 1
    for (bool is_last = false;; is_last = true) {
      const float shift = found.mean;
      found = moments_beside<T, packs>(shift, one_item, columns, pack_at, merged);
      const float rest = found.mean - shift;
      const bool is_far = rest * rest > k_far * found.variance;
      // Of a block's row all threads go the same way.
      if (is_last || !__any_sync(k_all_lanes, is_far)) return found;
    }
  } else {
    auto squares = Sums<1>::none();
    for_each_item<T, packs>(columns, pack_at, [&](float item) { squares.of[0] += item * item; });
    return {0, merged(squares).of[0] * one_item};
  }
}

template <int width>
__device__ Pack<float, width> beside(const Pack<float, width>& x, float mean) {
  Pack<float, width> values;
#pragma unroll
  for (int k = 0; k < width; ++k)
    values.item[k] = x.item[k] - mean;
  return values;
}

// Weight and bias where both are of the input's type, as they mostly are; rms_norm has no bias. Without a
// test for each pack, loads of several packs are on their way at once. Few packs are loaded with the row.
template <bool centred, class T, int packs>
class PlainParameters {
  static constexpr bool is_kept = packs <= 4;
  using Values = Pack<float, k_pack_width<T>>;

 public:
  __device__ PlainParameters(const NormForward& a, const Columns& columns)
      : weight_(static_cast<const T*>(a.weight.data)),
        bias_(static_cast<const T*>(a.bias.data)),
        columns_(columns),
        are_there_(is_of_type<T>(a.weight) && (!centred || is_of_type<T>(a.bias))) {
    if (!is_kept || !are_there_) return;
    weight_words_.load(weight_, columns);
    if constexpr (centred) bias_words_.load(bias_, columns);
  }
  __device__ bool are_there() const { return are_there_; }
  __device__ Values weight(int p) const { return pack_of(weight_words_, weight_, p); }
  __device__ Values bias(int p) const {
    if constexpr (!centred) return {};
    return pack_of(bias_words_, bias_, p);
  }

 private:
  using Words = RowWords<T, is_kept ? packs : 1>;

  __device__ Values pack_of(const Words& words, const T* items, int p) const {
    if constexpr (is_kept) return words.pack(p);
    return floats_of_words<T>(load_words(items, columns_, p));
  }

  const T *weight_, *bias_;
  Columns columns_;
  bool are_there_;
  Words weight_words_, bias_words_;
};

// For rows that a block has.
template <bool centred, class T, int packs>
__global__ void __launch_bounds__(most_row_threads(packs),
                                  resident_row_threads(packs) / most_row_threads(packs))
    norm_forward_block_kernel(const NormForward a, const RowLayout layout, float one_item) {
  const int64_t row = blockIdx.x;
  const Columns columns{a.shape.hidden, static_cast<int>(threadIdx.x), layout.threads, true};
  const T* const input = static_cast<const T*>(a.input) + row * a.shape.hidden;
  T* const out = static_cast<T*>(a.out) + row * a.shape.hidden;
  RowWords<T, packs> words;
  words.load(input, columns);
  const float first = centred ? to_float(*input) : 0;
  const PlainParameters<centred, T, packs> plain(a, columns);
  int turn = 0;
  auto merged = [&](const auto& sums) { return merged_in_block(sums, turn++); };
  const Moments moments =
      moments_of<centred, T, packs>(first, one_item, columns, [&](int p) { return words.pack(p); }, merged);
  const float rstd = rsqrtf(moments.variance + a.eps);
  const auto store = [&](const auto& weight_at, const auto& bias_at) {
#pragma unroll
    for (int p = 0; p < packs; ++p) {
      store_columns(out, columns, p,
                    scaled<centred>(beside(words.pack(p), moments.mean), rstd, weight_at(p), bias_at(p)));
    }
  };
  if (plain.are_there()) {
    store([&](int p) { return plain.weight(p); }, [&](int p) { return plain.bias(p); });
  } else {
    store([&](int p) { return load_parameter<T>(a.weight, columns, p, 1); },
          [&](int p) { return load_parameter<T>(a.bias, columns, p, 0); });
  }
  if (columns.thread == 0) store_statistics<centred>(a, row, moments.mean, rstd);
}

template <bool centred, class T>
__global__ void __launch_bounds__(k_memory_limits.memory_threads)
    norm_forward_memory_kernel(const NormForward a, const RowLayout layout, float one_item) {
  const RowPlace place(layout);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * layout.rows_of_block + place.row;
  const bool exists = row < a.shape.rows;
  const Columns columns = own_columns<0>(layout, place, exists ? a.shape.hidden : 0);
  const T* const input = static_cast<const T*>(a.input) + row * a.shape.hidden;
  T* const out = static_cast<T*>(a.out) + row * a.shape.hidden;
  const auto pack_at = [&](int p) { return floats_of(load_columns<k_pack_width<T>>(input, columns, p)); };
  int turn = 0;
  auto merged = [&](const auto& sums) { return merged_in_row(sums, columns, turn++); };
  const float first = centred && exists ? to_float(*input) : 0;
  const Moments moments = moments_of<centred, T, 0>(first, one_item, columns, pack_at, merged);
  const float rstd = rsqrtf(moments.variance + a.eps);
  for_each_pack<T, 0>(columns, [&](int p, int) {
    const auto weight = load_parameter<T>(a.weight, columns, p, 1);
    const auto bias = load_parameter<T>(a.bias, columns, p, 0);
    store_columns(out, columns, p, scaled<centred>(beside(pack_at(p), moments.mean), rstd, weight, bias));
  });
  if (columns.thread == 0 && exists) store_statistics<centred>(a, row, moments.mean, rstd);
}

template <class Kernel>
cudaError_t launch_forward_kernel(Kernel kernel, const NormForward& a, const RowLayout& layout,
                                  int rows_of_thread, cudaStream_t stream) {
  const int64_t blocks = ceil_div(a.shape.rows, int64_t{layout.rows_of_block} * rows_of_thread);
  if (blocks == 0) return cudaSuccess;
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  kernel<<<static_cast<unsigned>(blocks), layout.block_threads, 0, stream>>>(
      a, layout, 1 / static_cast<float>(a.shape.hidden));
  return cudaGetLastError();
}

// Calls `work` with the lanes of a row as a constant, 0 for those of the shortest rows.
template <int packs, class Work>
auto with_lanes(int lanes, const Work& work) {
  if constexpr (packs == 1) {
    if (lanes < 8) return work(std::integral_constant<int, 0>{});
    if (lanes == 8) return work(std::integral_constant<int, 8>{});
    if (lanes == 16) return work(std::integral_constant<int, 16>{});
  }
  return work(std::integral_constant<int, 32>{});
}

// The same with the packs of a thread, where a block has a row.
template <class Work>
auto with_block_packs(int packs, const Work& work) {
  if (packs == 2) return work(std::integral_constant<int, 2>{});
  if (packs == 4) return work(std::integral_constant<int, 4>{});
  return work(std::integral_constant<int, 8>{});
}

template <bool centred, class T, int packs>
cudaError_t launch_lanes(const NormForward& a, const RowLayout& layout, cudaStream_t stream) {
  return with_lanes<packs>(layout.threads, [&](auto lanes) {
    return launch_forward_kernel(norm_forward_lanes_kernel<centred, T, packs, decltype(lanes)::value>, a,
                                 layout, k_lanes_rows<packs>, stream);
  });
}

template <bool centred, class T>
cudaError_t launch_forward_of_type(const NormForward& a, cudaStream_t stream) {
  constexpr int width = k_pack_width<T>;
  const bool aligned =
      a.shape.hidden % width == 0 && all_aligned({a.input, a.weight.data, a.bias.data, a.out});
  const RowLayout in_registers = aligned ? register_layout(a.shape, width) : RowLayout{};
  if (in_registers.packs == 0) {
    const RowLayout in_memory = memory_layout(a.shape.hidden, width, k_memory_limits, aligned);
    return launch_forward_kernel(norm_forward_memory_kernel<centred, T>, a, in_memory, 1, stream);
  }
  if (in_registers.threads <= k_warp) {
    return in_registers.packs == 1 ? launch_lanes<centred, T, 1>(a, in_registers, stream)
                                   : launch_lanes<centred, T, 2>(a, in_registers, stream);
  }
  return with_block_packs(in_registers.packs, [&](auto packs) {
    return launch_forward_kernel(norm_forward_block_kernel<centred, T, decltype(packs)::value>, a,
                                 in_registers, 1, stream);
  });
}

template <bool centred>
cudaError_t launch_forward(const NormForward& a, cudaStream_t stream) {
  return with_type(a.shape.type,
                   [&](auto value) { return launch_forward_of_type<centred, decltype(value)>(a, stream); });
}

}  // namespace dsbuild::ops
