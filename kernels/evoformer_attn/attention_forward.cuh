// The forward pass: a block has 64 queries of one head and walks over the keys, keeping for each query the
// largest score so far and the sum of exponentials relative to it.
#pragma once

#include "scores.cuh"

namespace dsbuild::ops {

template <class Family, class T, int dim>
struct ForwardMemory {
  Tile<T, dim> k[Family::stages];
  Tile<T, dim> v[Family::stages];
  BiasTile<T> biases[Family::stages];
  typename Family::Scratch scratch[k_warps];
};

// Of the two rows that a lane has a part of. `total` is the lane's part until finish().
template <class Family>
struct Softmax {
  float unit;
  float largest[2] = {-INFINITY, -INFINITY};
  float total[2] = {0, 0};

  // Scores become exponentials; what was summed up with a smaller maximum is scaled down.
  template <int steps>
  __device__ void add(Accumulators (&scores)[k_steps], Accumulators (&out)[steps]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const float before = largest[slot];
      raise_largest(scores, slot);
      const float shift = shift_of(slot);
      const float shrink = exp2_of(before * unit - shift);
      total[slot] = total[slot] * shrink + exponentials(scores, slot, shift);
#pragma unroll
      for (int i = 0; i < steps * 4; ++i)
        out[i / 4].at(i / 2 % 2, slot, i % 2) *= shrink;
    }
  }

  __device__ void finish() {
    total[0] = row_sum<Family>(total[0]);
    total[1] = row_sum<Family>(total[1]);
  }

  // A query that no key is open to has -infinity, and an output of 0.
  __device__ float log_sum(int slot) const {
    return total[slot] == 0 ? -INFINITY : (shift_of(slot) + log2f(total[slot])) * k_ln_2;
  }
  __device__ float inverse(int slot) const { return total[slot] == 0 ? 0 : 1 / total[slot]; }

 private:
  __device__ float shift_of(int slot) const { return largest[slot] == -INFINITY ? 0 : largest[slot] * unit; }

  __device__ void raise_largest(const Accumulators (&scores)[k_steps], int slot) {
    float value = -INFINITY;
#pragma unroll
    for (int i = 0; i < k_steps * 4; ++i)
      value = fmaxf(value, scores[i / 4].at(i / 2 % 2, slot, i % 2));
    largest[slot] = fmaxf(largest[slot], row_max<Family>(value));
  }

  __device__ float exponentials(Accumulators (&scores)[k_steps], int slot, float shift) const {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < k_steps * 4; ++i) {
      float& score = scores[i / 4].at(i / 2 % 2, slot, i % 2);
      score = exp2_of(score * unit - shift);
      sum += score;
    }
    return sum;
  }
};

template <class Family, class T, int dim>
__global__ void __launch_bounds__(k_threads, k_blocks_per_sm<dim>) forward_kernel(const EvoformerForward a) {
  auto& shared = shared_memory<ForwardMemory<Family, T, dim>>();
  const EvoformerShape& s = a.in.shape;
  const Place place(tile_count(s.queries), s.heads);
  const ScoreScale scale(s.head_dim);
  const auto biases = biases_of<T>(a.in, place.outer, place.head, scale.root);
  const auto keys = rows_of<T>(a.in.k, s, s.keys, place.outer, place.head);
  const auto values = rows_of<T>(a.in.v, s, s.keys, place.outer, place.head);
  typename Family::Left q[dim / k_step];
  load_rows<Family>(q, shared.k[0], rows_of<T>(a.in.q, s, s.queries, place.outer, place.head), place.tile);

  Softmax<Family> softmax{scale.unit};
  Accumulators out[dim / k_step] = {};
  const auto load = [&](int tile, int stage) {
    copy_tile<Family>(shared.k[stage], keys, tile);
    copy_tile<Family>(shared.v[stage], values, tile);
    copy_biases<Family>(shared.biases[stage], biases, place.tile, tile);
    Family::commit();
  };
  const auto work = [&](int tile, int stage) {
    Accumulators scores[k_steps];
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      scores[step] = start_score<Family>(biases, shared.biases[stage], tile, step);
      multiply_transposed<Family>(scores[step], q, shared.k[stage], step);
    }
    softmax.add(scores, out);
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      const auto p = Family::template left_of<T>(scores[step], shared.scratch[warp_id()]);
      multiply_rows<Family>(out, p, shared.v[stage], step);
    }
  };
  for_each_tile<Family>(tile_count(s.keys), load, work);

  softmax.finish();
  const float inverse[2] = {softmax.inverse(0), softmax.inverse(1)};
  store_rows<Family>(rows_of<T>(a.out, s, s.queries, place.outer, place.head), place.tile, out, inverse);
  float* lse = a.lse + (place.outer * s.heads + place.head) * s.queries;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int query = place.tile * k_tile + own_row<Family>(slot);
    if (Family::first_column() == 0 && query < s.queries) lse[query] = softmax.log_sum(slot);
  }
}

}  // namespace dsbuild::ops
