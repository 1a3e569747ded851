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

// A tile of both biases: 64 queries × 64 keys, and 64 keys.
template <class T>
struct BiasTile {
  Tile<T, k_tile> pairs;
  alignas(16) T keys[k_tile];
};

// The biases of one head; either may be null.
template <class T>
struct Biases {
  const T* of_key;
  Rows<const T> of_pair;  // of queries
  int keys;
  float root;
  bool wide;  // rows can be copied 16 bytes at a time
};

// batch_row: of batch × rows.
template <class T>
__device__ Biases<T> biases_of(const EvoformerInputs& in, int64_t batch_row, int head, float root) {
  const EvoformerShape& s = in.shape;
  const T* of_key = static_cast<const T*>(in.bias1);
  const T* of_pair = static_cast<const T*>(in.bias2);
  if (of_key != nullptr) of_key += batch_row * s.keys;
  if (of_pair != nullptr)
    of_pair += (batch_row / s.rows * s.heads + head) * s.queries * static_cast<int64_t>(s.keys);
  return {of_key, {of_pair, s.keys, s.queries, s.keys}, s.keys, root, s.keys % k_pack == 0};
}

template <class Family, class T>
__device__ void copy_key_biases(T (&to)[k_tile], const Biases<T>& biases, int key_tile) {
  if (biases.of_key == nullptr) return;
  const int width = biases.wide ? k_pack : 1;
  const int column = static_cast<int>(threadIdx.x) * width;
  if (column >= k_tile) return;
  const int key = key_tile * k_tile + column;
  const bool there = key < biases.keys;
  const T* source = biases.of_key + (there ? key : 0);
  if (biases.wide) {
    Family::template copy<16>(to + column, source, there);
  } else {
    to[column] = there ? *source : T{};
  }
}

template <class Family, class T>
__device__ void copy_pair_biases(Tile<T, k_tile>& to, const Biases<T>& biases, int query_tile, int key_tile) {
  if (biases.of_pair.first == nullptr) return;
  const int key = key_tile * k_tile;
  const Rows<const T> from{biases.of_pair.first + key, biases.of_pair.stride, biases.of_pair.count,
                           biases.of_pair.width - key};
  if (biases.wide) {
    copy_tile<Family>(to, from, query_tile);
  } else {
    copy_elements(to, from, query_tile);
  }
}

template <class Family, class T>
__device__ void copy_biases(BiasTile<T>& to, const Biases<T>& biases, int query_tile, int key_tile) {
  copy_pair_biases<Family>(to.pairs, biases, query_tile, key_tile);
  copy_key_biases<Family>(to.keys, biases, key_tile);
}

__device__ inline void fill(Accumulators& score, float of_slot0, float of_slot1) {
#pragma unroll
  for (int i = 0; i < 8; ++i)
    score.item[i] = i / 2 % 2 == 0 ? of_slot0 : of_slot1;
}

template <class T>
__device__ void add_pair_biases(Accumulators& score, const Words& words, float root) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    score.item[2 * i] += low_of<T>(words.word[i]) * root;
    score.item[2 * i + 1] += high_of<T>(words.word[i]) * root;
  }
}

template <class Family, class T>
__device__ void add_key_biases(Accumulators& score, const T (&keys)[k_tile], int step, float root) {
#pragma unroll
  for (int pair = 0; pair < 2; ++pair) {
    const uint32_t word = *reinterpret_cast<const uint32_t*>(keys + own_column<Family>(step, pair));
    const float low = low_of<T>(word) * root;
    const float high = high_of<T>(word) * root;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      score.at(pair, slot, 0) += low;
      score.at(pair, slot, 1) += high;
    }
  }
}

// Columns from `end` of the tile on are outside: -infinity becomes a probability of 0.
template <class Family>
__device__ void mask_columns(Accumulators& score, int step, int end) {
  if (end >= k_tile) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (own_column<Family>(step, i / 4) + i % 2 >= end) score.item[i] = -INFINITY;
  }
}

// The warp's rows of queries × a step of a tile of keys.
template <class Family, class T>
__device__ Accumulators start_score(const Biases<T>& biases, const BiasTile<T>& tile, int key_tile,
                                    int step) {
  Accumulators score = {};
  if (biases.of_key != nullptr) add_key_biases<Family>(score, tile.keys, step, biases.root);
  if (biases.of_pair.first != nullptr) {
    const Words words = Family::words(tile.pairs.operand(warp_id(), step), tile.pairs.stride);
    add_pair_biases<T>(score, words, biases.root);
  }
  mask_columns<Family>(score, step, biases.keys - key_tile * k_tile);
  return score;
}

// Of the keys that a lane has a part of, times root.
template <class Family, class T>
__device__ void load_key_biases(float (&own)[2], const Biases<T>& biases, int key_tile) {
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int key = key_tile * k_tile + own_row<Family>(slot);
    own[slot] =
        biases.of_key != nullptr && key < biases.keys ? to_float(biases.of_key[key]) * biases.root : 0;
  }
}

// The warp's rows of keys × a step of a tile of queries.
template <class Family, class T>
__device__ Accumulators start_score_transposed(const Biases<T>& biases, const float (&of_key)[2],
                                               const Tile<T, k_tile>& pairs, int query_tile, int step) {
  Accumulators score;
  fill(score, of_key[0], of_key[1]);
  if (biases.of_pair.first != nullptr)
    add_pair_biases<T>(score, Family::words_transposed(pairs.operand(step, warp_id()), pairs.stride),
                       biases.root);
  mask_columns<Family>(score, step, biases.of_pair.count - query_tile * k_tile);
  return score;
}

}  // namespace dsbuild::ops
