// out = (a_scale * a) (b_scale * b)^T + bias by cuBLASLt: no tvm-ffi here.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "float_type.h"
#include "fp8_format.h"

namespace dsbuild::ops {

// All row after row: a [rows, inner], b [columns, inner], out [rows, columns]. In cuBLASLt's order of columns
// that is the product "TN" of b and a, the only layout in which every GPU multiplies 8-bit floats.
struct Fp8Matmul {
  int64_t rows, columns, inner;
  const uint8_t *a, *b;
  Fp8Format a_format, b_format;
  const float *a_scale, *b_scale;
  const void* bias;  // [columns], may be null
  FloatType bias_type;
  void* out;
  FloatType out_type;
  bool split_accumulator;
};

constexpr int64_t k_cublaslt_workspace = 32 << 20;  // what cuBLAS advises from 9.0 on

// Bytes of workspace for these sizes: cuBLASLt's own, and copies of what it does not take as it is.
int64_t fp8_matmul_workspace(int64_t rows, int64_t columns, int64_t inner);

// On `stream` of `device`, which is current. What went wrong, or "".
std::string fp8_matmul(const Fp8Matmul& m, uint8_t* workspace, int device, cudaStream_t stream);

}  // namespace dsbuild::ops
