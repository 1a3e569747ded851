// Evoformer attention: between its kernels (no tvm-ffi), the choice of a kernel family, and the binding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "float_type.h"
#include "host_device.h"

namespace dsbuild::ops {

// q and out: [batch, rows, queries, heads, head_dim]; k and v the same with keys for queries.
struct EvoformerShape {
  int64_t batch;
  int64_t rows;
  int heads;
  int queries;
  int keys;
  int head_dim;  // a multiple of 8, at most k_max_head_dim
};
constexpr int k_max_head_dim = 64;
constexpr int k_tile = 64;  // queries, or keys, that a block has at once

struct EvoformerInputs {
  EvoformerShape shape;
  FloatType type;  // float16 or bfloat16, of all arrays but those of floats
  const void* q;
  const void* k;
  const void* v;
  const void* bias1;  // [batch, rows, keys], or null
  const void* bias2;  // [batch, heads, queries, keys], or null
};

struct EvoformerForward {
  EvoformerInputs in;
  void* out;
  float* lse;  // [batch, rows, heads, queries]
};

struct EvoformerBackward {
  EvoformerInputs in;
  const void* grad_out;
  const void* out;
  const float* lse;
  void* grad_q;
  void* grad_k;
  void* grad_v;
  void* grad_bias1;  // null where it is not asked for
  void* grad_bias2;  // null where it is not asked for
  float* scratch;    // evoformer_scratch_elements(shape) of them
};

DSBUILD_HOST_DEVICE constexpr int tile_count(int rows) {
  return (rows + k_tile - 1) / k_tile;
}

// grad_bias2 is summed up in so many parts of the rows, each by blocks of its own, that even few queries and
// keys make enough blocks for a large GPU.
DSBUILD_HOST_DEVICE constexpr int64_t evoformer_row_parts(const EvoformerShape& s) {
  constexpr int64_t wanted_blocks = 1024;
  const int64_t blocks = s.batch * s.heads * tile_count(s.queries) * tile_count(s.keys);
  const int64_t parts = blocks == 0 ? 1 : (wanted_blocks + blocks - 1) / blocks;
  return parts < s.rows ? parts : s.rows;
}

// Two numbers for each query of each head, one for each key of each head, and grad_bias2 in float32 for each
// part.
constexpr int64_t evoformer_scratch_elements(const EvoformerShape& s) {
  const int64_t pairs = evoformer_row_parts(s) * s.queries * s.keys;
  return s.batch * s.heads * (s.rows * (2 * int64_t{s.queries} + s.keys) + pairs);
}

// Kernels that need the matrix instructions of compute capability `version` (70, 75 or 80) and run on every
// newer GPU. All launches are on `stream` of the current device.
struct EvoformerFamily {
  int version;
  bool bfloat16;
  cudaError_t (*attributes)(cudaFuncAttributes* of_one_kernel);
  cudaError_t (*forward)(const EvoformerForward&, cudaStream_t);
  cudaError_t (*backward)(const EvoformerBackward&, cudaStream_t);
};

// One source each, built only for the architectures that choose it: in the library of other architectures the
// function is null.
[[gnu::weak]] const EvoformerFamily& evoformer_family_70();
[[gnu::weak]] const EvoformerFamily& evoformer_family_75();
[[gnu::weak]] const EvoformerFamily& evoformer_family_80();

// Those that the library holds, newest first.
std::vector<const EvoformerFamily*> evoformer_families();

// Has the library code of this family for the current device? The instructions of a family may be used only
// where the image that runs, and the PTX that it came from, are of its version or newer.
bool evoformer_family_runs(const EvoformerFamily& family);

}  // namespace dsbuild::ops
