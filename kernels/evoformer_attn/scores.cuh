// Scores: q·k / sqrt(head_dim) + biases. The accumulators of q·k start with the biases times sqrt(head_dim),
// so that one multiplication scales both.
#pragma once

#include "tile.cuh"

namespace dsbuild::ops {

// Accumulators times `unit` are scores in units of ln 2: their exp2 is the scores' exp.
struct ScoreScale {
  float root;    // sqrt(head_dim)
  float factor;  // 1 / sqrt(head_dim)
  float unit;

  __device__ explicit ScoreScale(int head_dim)
      : root(sqrtf(static_cast<float>(head_dim))), factor(1 / root), unit(factor * k_log2_e) {}
};

// What the scores of one head start with; -infinity outside, which becomes a probability of 0.
template <class T>
struct Biases {
  const T* of_key;   // [keys], or null
  const T* of_pair;  // [queries, keys], or null
  int queries;
  int keys;
  float root;
  bool even;  // a pair of neighbouring keys can be loaded at once

  __device__ float at(int query, int key) const {
    if (query >= queries || key >= keys) return -INFINITY;
    const float sum = (of_key ? to_float(of_key[key]) : 0) +
                      (of_pair ? to_float(of_pair[static_cast<int64_t>(query) * keys + key]) : 0);
    return sum * root;
  }

  // Of an even key and its right neighbour.
  __device__ Pack<float, 2> two_at(int query, int key) const {
    if (!even) return {{at(query, key), at(query, key + 1)}};
    if (query >= queries || key >= keys) return {{-INFINITY, -INFINITY}};
    Pack<float, 2> sum{};
    if (of_key) add(sum, of_key + key);
    if (of_pair) add(sum, of_pair + static_cast<int64_t>(query) * keys + key);
    return {{sum.item[0] * root, sum.item[1] * root}};
  }

 private:
  __device__ static void add(Pack<float, 2>& sum, const T* from) {
    const auto two = load_pack<2>(from);
    sum.item[0] += to_float(two.item[0]);
    sum.item[1] += to_float(two.item[1]);
  }
};

template <class T>
__device__ const T* row_or_null(const void* array, int64_t row, int64_t length) {
  return array == nullptr ? nullptr : static_cast<const T*>(array) + row * length;
}

// batch_row: of batch × rows.
template <class T>
__device__ Biases<T> biases_of(const EvoformerInputs& in, int64_t batch_row, int head, float root) {
  const EvoformerShape& s = in.shape;
  const int64_t pair_row = batch_row / s.rows * s.heads + head;
  const auto* of_key = row_or_null<T>(in.bias1, batch_row, s.keys);
  const auto* of_pair = row_or_null<T>(in.bias2, pair_row, static_cast<int64_t>(s.queries) * s.keys);
  const bool even = s.keys % 2 == 0 && aligned_to(of_key, 4) && aligned_to(of_pair, 4);
  return {of_key, of_pair, s.queries, s.keys, root, even};
}

// The warp's rows of queries × a tile of keys.
template <class Family, class T>
__device__ void start_scores(Accumulators (&scores)[k_steps], const Biases<T>& biases, int query_tile,
                             int key_tile) {
#pragma unroll
  for (int step = 0; step < k_steps; ++step) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        const auto two = biases.two_at(query_tile * k_tile + own_row<Family>(slot),
                                       key_tile * k_tile + own_column<Family>(step, pair));
        scores[step].at(pair, slot, 0) = two.item[0];
        scores[step].at(pair, slot, 1) = two.item[1];
      }
    }
  }
}

// The warp's rows of keys × a tile of queries.
template <class Family, class T>
__device__ void start_scores_transposed(Accumulators (&scores)[k_steps], const Biases<T>& biases,
                                        int key_tile, int query_tile) {
#pragma unroll
  for (int step = 0; step < k_steps; ++step) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int query = query_tile * k_tile + own_column<Family>(step, i / 4) + i % 2;
      scores[step].item[i] = biases.at(query, key_tile * k_tile + own_row<Family>(i / 2 % 2));
    }
  }
}

}  // namespace dsbuild::ops
