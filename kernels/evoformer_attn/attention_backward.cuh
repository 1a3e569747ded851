// The backward pass. With p the probabilities, recomputed from the scores and their log-sum-exp, and `dot`
// the product of a query's rows of grad_out and out:
//   grad_score = p * (grad_out·v - dot)
//   grad_q = grad_score × k / sqrt(head_dim)    grad_k = grad_scoreᵀ × q / sqrt(head_dim)    grad_v = pᵀ ×
//   grad_out grad_bias1 = grad_score summed over heads and queries    grad_bias2 = grad_score summed over
//   rows
// Each gradient has blocks of its own, which walk over what it sums up, always in the same order: every run
// gives the same bits.
#pragma once

#include "scores.cuh"

namespace dsbuild::ops {

// What one query's scores need.
struct alignas(8) QueryNumbers {
  float lse;  // in units of ln 2
  float dot;
};

// The scratch array: [batch, rows, heads, queries], then the sums of grad_score over queries, for grad_bias1:
// [batch, rows, heads, keys], then those over parts of the rows, for grad_bias2: [batch, parts, heads,
// queries, keys].
__device__ inline QueryNumbers* query_numbers(const EvoformerBackward& a) {
  return reinterpret_cast<QueryNumbers*>(a.scratch);
}
__host__ __device__ inline float* key_sums(const EvoformerBackward& a) {
  const EvoformerShape& s = a.in.shape;
  return a.scratch + 2 * s.batch * s.rows * s.heads * s.queries;
}
__host__ __device__ inline float* pair_sums(const EvoformerBackward& a) {
  const EvoformerShape& s = a.in.shape;
  return key_sums(a) + s.batch * s.rows * s.heads * s.keys;
}

// Probability, and gradient of the score.
struct Gradient {
  float p;
  float score;

  __device__ Gradient(float score_sum, float unit, float grad_p, const QueryNumbers& query)
      : p(exp2_of(score_sum * unit - query.lse)), score(p * (grad_p - query.dot)) {}
};

constexpr int k_lanes_per_query = k_max_head_dim / k_pack;

template <class Family, class T>
__global__ void __launch_bounds__(k_threads) query_numbers_kernel(const EvoformerBackward a, int64_t count) {
  const EvoformerShape& s = a.in.shape;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * k_threads + threadIdx.x;
  const int64_t row = thread / k_lanes_per_query;  // of [batch, rows, queries, heads]
  const int column = static_cast<int>(thread % k_lanes_per_query) * k_pack;
  float dot = 0;
  if (row < count && column < s.head_dim) {
    const int64_t place = row * s.head_dim + column;
    const auto out = load_pack<k_pack>(static_cast<const T*>(a.out) + place);
    const auto grad = load_pack<k_pack>(static_cast<const T*>(a.grad_out) + place);
#pragma unroll
    for (int i = 0; i < k_pack; ++i)
      dot += to_float(out.item[i]) * to_float(grad.item[i]);
  }
#pragma unroll
  for (int lanes = k_lanes_per_query / 2; lanes > 0; lanes /= 2)
    dot += __shfl_xor_sync(k_all_lanes, dot, lanes);
  if (row >= count || column != 0) return;
  const int64_t query = row / s.heads % s.queries;
  const int64_t batch_row = row / s.heads / s.queries;
  const int64_t place = (batch_row * s.heads + row % s.heads) * s.queries + query;
  const float lse = a.lse[place];
  query_numbers(a)[place] = {lse == -INFINITY ? 0 : lse * k_log2_e, dot};
}

// Of the rows that a lane has a part of; zeros outside, where scores are -infinity.
template <class Family>
__device__ void load_query_numbers(QueryNumbers (&numbers)[2], const EvoformerBackward& a, int64_t head_row,
                                   int tile) {
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const int query = tile * k_tile + own_row<Family>(slot);
    numbers[slot] = {0, 0};
    if (query < a.in.shape.queries) numbers[slot] = query_numbers(a)[head_row * a.in.shape.queries + query];
  }
}

template <class Family, class T, int dim>
struct GradQMemory {
  Tile<T, dim> k[Family::stages];
  Tile<T, dim> v[Family::stages];
  BiasTile<T> biases[Family::stages];
  typename Family::Scratch scratch[k_warps];
};

// A block has 64 queries of one head and walks over the keys.
template <class Family, class T, int dim>
__global__ void __launch_bounds__(k_threads, k_blocks_per_sm<dim>) grad_q_kernel(const EvoformerBackward a) {
  auto& shared = shared_memory<GradQMemory<Family, T, dim>>();
  const EvoformerShape& s = a.in.shape;
  const Place place(tile_count(s.queries), s.heads);
  const ScoreScale scale(s.head_dim);
  const auto biases = biases_of<T>(a.in, place.outer, place.head, scale.root);
  const auto keys = rows_of<T>(a.in.k, s, s.keys, place.outer, place.head);
  const auto values = rows_of<T>(a.in.v, s, s.keys, place.outer, place.head);
  typename Family::Left q[dim / k_step];
  typename Family::Left grad_out[dim / k_step];
  load_rows<Family>(q, shared.k[0], rows_of<T>(a.in.q, s, s.queries, place.outer, place.head), place.tile);
  load_rows<Family>(grad_out, shared.v[0], rows_of<T>(a.grad_out, s, s.queries, place.outer, place.head),
                    place.tile);
  QueryNumbers numbers[2];
  load_query_numbers<Family>(numbers, a, place.outer * s.heads + place.head, place.tile);

  Accumulators grad_q[dim / k_step] = {};
  const auto load = [&](int tile, int stage) {
    copy_tile<Family>(shared.k[stage], keys, tile);
    copy_tile<Family>(shared.v[stage], values, tile);
    copy_biases<Family>(shared.biases[stage], biases, place.tile, tile);
    Family::commit();
  };
  const auto work = [&](int tile, int stage) {
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      Accumulators score = start_score<Family>(biases, shared.biases[stage], tile, step);
      Accumulators grad = {};
      multiply_transposed<Family>(score, q, shared.k[stage], step);
      multiply_transposed<Family>(grad, grad_out, shared.v[stage], step);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        grad.item[i] = Gradient(score.item[i], scale.unit, grad.item[i], numbers[i / 2 % 2]).score;
      const auto left = Family::template left_of<T>(grad, shared.scratch[warp_id()]);
      multiply_rows<Family>(grad_q, left, shared.k[stage], step);
    }
  };
  for_each_tile<Family>(tile_count(s.keys), load, work);
  const float factor[2] = {scale.factor, scale.factor};
  store_rows<Family>(rows_of<T>(a.grad_q, s, s.queries, place.outer, place.head), place.tile, grad_q, factor);
}

template <class Family, class T, int dim>
struct GradKvMemory {
  Tile<T, dim> q[Family::stages];
  Tile<T, dim> grad_out[Family::stages];
  Tile<T, k_tile> biases[Family::stages];
  QueryNumbers numbers[Family::stages][k_tile];
  typename Family::Scratch scratch[k_warps];
};

template <class Family>
__device__ void copy_query_numbers(QueryNumbers (&to)[k_tile], const EvoformerBackward& a, int64_t head_row,
                                   int tile) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= k_tile) return;
  const int query = tile * k_tile + i;
  const bool there = query < a.in.shape.queries;
  Family::template copy<8>(&to[i], query_numbers(a) + head_row * a.in.shape.queries + (there ? query : 0),
                           there);
}

// Scores and grad_out·v of one step, transposed: rows are keys. They become p and grad_score; grad_score is
// added to the sum of its key.
template <class Family>
__device__ void gradients_of_step(Accumulators& score, Accumulators& grad, float (&sums)[2],
                                  const QueryNumbers (&numbers)[k_tile], int step, float unit) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const QueryNumbers& query = numbers[own_column<Family>(step, i / 4) + i % 2];
    const Gradient g(score.item[i], unit, grad.item[i], query);
    score.item[i] = g.p;
    grad.item[i] = g.score;
    sums[i / 2 % 2] += g.score;
  }
}

template <class Family>
__device__ void store_key_sums(const EvoformerBackward& a, const Place& place, const float (&sums)[2]) {
  const EvoformerShape& s = a.in.shape;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const float sum = row_sum<Family>(sums[slot]);
    const int key = place.tile * k_tile + own_row<Family>(slot);
    if (Family::first_column() == 0 && key < s.keys)
      key_sums(a)[(place.outer * s.heads + place.head) * s.keys + key] = sum;
  }
}

// A block has 64 keys of one head and walks over the queries.
template <class Family, class T, int dim>
__global__ void __launch_bounds__(k_threads, k_blocks_of_two_sums<dim>)
    grad_kv_kernel(const EvoformerBackward a) {
  auto& shared = shared_memory<GradKvMemory<Family, T, dim>>();
  const EvoformerShape& s = a.in.shape;
  const Place place(tile_count(s.keys), s.heads);
  const ScoreScale scale(s.head_dim);
  const auto biases = biases_of<T>(a.in, place.outer, place.head, scale.root);
  const auto queries = rows_of<T>(a.in.q, s, s.queries, place.outer, place.head);
  const auto grad_outs = rows_of<T>(a.grad_out, s, s.queries, place.outer, place.head);
  typename Family::Left k[dim / k_step];
  typename Family::Left v[dim / k_step];
  load_rows<Family>(k, shared.q[0], rows_of<T>(a.in.k, s, s.keys, place.outer, place.head), place.tile);
  load_rows<Family>(v, shared.grad_out[0], rows_of<T>(a.in.v, s, s.keys, place.outer, place.head),
                    place.tile);

  Accumulators grad_k[dim / k_step] = {};
  Accumulators grad_v[dim / k_step] = {};
  float sums[2] = {0, 0};
  float of_key[2];
  load_key_biases<Family>(of_key, biases, place.tile);
  const auto load = [&](int tile, int stage) {
    copy_tile<Family>(shared.q[stage], queries, tile);
    copy_tile<Family>(shared.grad_out[stage], grad_outs, tile);
    copy_query_numbers<Family>(shared.numbers[stage], a, place.outer * s.heads + place.head, tile);
    copy_pair_biases<Family>(shared.biases[stage], biases, tile, place.tile);
    Family::commit();
  };
  const auto work = [&](int tile, int stage) {
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      Accumulators score = start_score_transposed<Family>(biases, of_key, shared.biases[stage], tile, step);
      Accumulators grad = {};
      multiply_transposed<Family>(score, k, shared.q[stage], step);
      multiply_transposed<Family>(grad, v, shared.grad_out[stage], step);
      gradients_of_step<Family>(score, grad, sums, shared.numbers[stage], step, scale.unit);
      auto& scratch = shared.scratch[warp_id()];
      multiply_rows<Family>(grad_v, Family::template left_of<T>(score, scratch), shared.grad_out[stage],
                            step);
      multiply_rows<Family>(grad_k, Family::template left_of<T>(grad, scratch), shared.q[stage], step);
    }
  };
  for_each_tile<Family>(tile_count(s.queries), load, work);
  const float one[2] = {1, 1};
  const float factor[2] = {scale.factor, scale.factor};
  store_rows<Family>(rows_of<T>(a.grad_v, s, s.keys, place.outer, place.head), place.tile, grad_v, one);
  store_rows<Family>(rows_of<T>(a.grad_k, s, s.keys, place.outer, place.head), place.tile, grad_k, factor);
  if (a.grad_bias1 != nullptr) store_key_sums<Family>(a, place, sums);
}

template <class Family, class T, int dim>
struct GradBias2Memory {
  Tile<T, dim> q[Family::stages];
  Tile<T, dim> grad_out[Family::stages];
  Tile<T, dim> k[Family::stages];
  Tile<T, dim> v[Family::stages];
  QueryNumbers numbers[Family::stages][k_tile];
  BiasTile<T> biases[Family::stages];
};

// One tile's rows of the warp as left operands.
template <class Family, class T, int dim>
__device__ void left_rows(typename Family::Left (&rows)[dim / k_step], const Tile<T, dim>& tile) {
#pragma unroll
  for (int d = 0; d < dim / k_step; ++d)
    rows[d] = Family::left(tile.operand(warp_id(), d), Tile<T, dim>::stride);
}

template <class Family>
__device__ void store_pair_sums(const EvoformerShape& s, float* to, int query_tile, int key_tile,
                                const Accumulators (&sum)[k_steps]) {
#pragma unroll
  for (int i = 0; i < k_steps * 8; ++i) {
    const int query = query_tile * k_tile + own_row<Family>(i / 2 % 2);
    const int key = key_tile * k_tile + own_column<Family>(i / 8, i / 4 % 2) + i % 2;
    if (query < s.queries && key < s.keys)
      to[static_cast<int64_t>(query) * s.keys + key] = sum[i / 8].item[i % 8];
  }
}

// A block has 64 queries × 64 keys of one head and walks over one part of the rows of the batch.
template <class Family, class T, int dim>
__global__ void __launch_bounds__(k_threads, k_blocks_of_two_sums<dim>)
    pair_sums_kernel(const EvoformerBackward a) {
  auto& shared = shared_memory<GradBias2Memory<Family, T, dim>>();
  const EvoformerShape& s = a.in.shape;
  const int key_tiles = tile_count(s.keys);
  const Place place(key_tiles * tile_count(s.queries), s.heads);
  const int query_tile = place.tile / key_tiles;
  const int key_tile = place.tile % key_tiles;
  const int64_t parts = evoformer_row_parts(s);
  const int64_t part = place.outer % parts;
  const int64_t first = place.outer / parts * s.rows + s.rows * part / parts;
  const int64_t end = place.outer / parts * s.rows + s.rows * (part + 1) / parts;
  const ScoreScale scale(s.head_dim);

  Accumulators sum[k_steps] = {};
  const auto load = [&](int row, int stage) {
    const int64_t batch_row = first + row;
    copy_tile<Family>(shared.q[stage], rows_of<T>(a.in.q, s, s.queries, batch_row, place.head), query_tile);
    copy_tile<Family>(shared.grad_out[stage], rows_of<T>(a.grad_out, s, s.queries, batch_row, place.head),
                      query_tile);
    copy_tile<Family>(shared.k[stage], rows_of<T>(a.in.k, s, s.keys, batch_row, place.head), key_tile);
    copy_tile<Family>(shared.v[stage], rows_of<T>(a.in.v, s, s.keys, batch_row, place.head), key_tile);
    copy_query_numbers<Family>(shared.numbers[stage], a, batch_row * s.heads + place.head, query_tile);
    copy_biases<Family>(shared.biases[stage], biases_of<T>(a.in, batch_row, place.head, scale.root),
                        query_tile, key_tile);
    Family::commit();
  };
  const auto work = [&](int row, int stage) {
    const auto biases = biases_of<T>(a.in, first + row, place.head, scale.root);
    typename Family::Left q[dim / k_step];
    typename Family::Left grad_out[dim / k_step];
    left_rows<Family>(q, shared.q[stage]);
    left_rows<Family>(grad_out, shared.grad_out[stage]);
#pragma unroll
    for (int step = 0; step < k_steps; ++step) {
      Accumulators score = start_score<Family>(biases, shared.biases[stage], key_tile, step);
      Accumulators grad = {};
      multiply_transposed<Family>(score, q, shared.k[stage], step);
      multiply_transposed<Family>(grad, grad_out, shared.v[stage], step);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const QueryNumbers& query = shared.numbers[stage][own_row<Family>(i / 2 % 2)];
        sum[step].item[i] += Gradient(score.item[i], scale.unit, grad.item[i], query).score;
      }
    }
  };
  for_each_tile<Family>(static_cast<int>(end - first), load, work);
  float* to = pair_sums(a) + (place.outer * s.heads + place.head) * s.queries * s.keys;
  store_pair_sums<Family>(s, to, query_tile, key_tile, sum);
}

// Sums `parts` numbers that lie `distance` apart into each of `outer` × `distance` numbers.
template <class Family, class T>
__global__ void __launch_bounds__(k_threads)
    sum_parts_kernel(T* __restrict__ to, const float* __restrict__ from, int64_t count, int64_t distance,
                     int64_t parts) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * k_threads + threadIdx.x;
  if (i >= count) return;
  const float* first = from + i / distance * parts * distance + i % distance;
  float sum = 0;
  for (int64_t part = 0; part < parts; ++part)
    sum += first[part * distance];
  to[i] = from_float<T>(sum);
}

}  // namespace dsbuild::ops
