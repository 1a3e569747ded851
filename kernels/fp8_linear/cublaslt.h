// cuBLASLt, opened while the program runs: nothing is linked against it.
//
// Types and constants are declared here and not taken from cublasLt.h: toolkits that are installed from PyPI
// have nvcc without that header, and a library must not be able to do less because of the toolkit that built
// it. They are part of cuBLASLt's binary interface, which .so.12 and .so.13 share;
// tests/python/test_cublaslt.py holds them against the header where there is one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace dsbuild::ops::cublaslt {

using Status = int;
using Handle = struct cublasLtContext*;
using MatmulDesc = struct OpaqueMatmulDesc*;
using MatrixLayout = struct OpaqueMatrixLayout*;
using Preference = struct OpaquePreference*;

struct Algorithm {  // cublasLtMatmulAlgo_t
  uint64_t data[8];
};
struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspace_size;
  Status state;
  float waves_count;
  int reserved[4];
};

constexpr Status k_success = 0;
constexpr Status k_not_supported = 15;

enum DataType : int { k_32f = 0, k_16f = 2, k_16bf = 14, k_8f_e4m3 = 28, k_8f_e5m2 = 29 };  // cudaDataType_t
constexpr int k_compute_32f = 68;
constexpr int32_t k_op_n = 0;
constexpr int32_t k_op_t = 1;
constexpr uint32_t k_epilogue_bias = 4;

enum DescAttribute : int {
  k_transa = 3,
  k_transb = 4,
  k_epilogue = 7,
  k_bias_pointer = 8,
  k_a_scale_pointer = 17,
  k_b_scale_pointer = 18,
  k_fast_accum = 25,
  k_bias_data_type = 26,
};
enum PreferenceAttribute : int {
  k_max_workspace_bytes = 1,
  k_min_alignment_a = 5,
  k_min_alignment_b = 6,
  k_min_alignment_c = 7,
  k_min_alignment_d = 8,
};

// cuBLASLt's functions, without their prefix.
struct Library {
  std::string path;
  size_t (*GetVersion)();
  const char* (*GetStatusName)(Status);
  Status (*Create)(Handle*);
  Status (*MatmulDescCreate)(MatmulDesc*, int compute_type, int scale_type);
  Status (*MatmulDescDestroy)(MatmulDesc);
  Status (*MatmulDescSetAttribute)(MatmulDesc, int attribute, const void* value, size_t bytes);
  Status (*MatrixLayoutCreate)(MatrixLayout*, int type, uint64_t rows, uint64_t columns, int64_t ld);
  Status (*MatrixLayoutDestroy)(MatrixLayout);
  Status (*MatmulPreferenceCreate)(Preference*);
  Status (*MatmulPreferenceDestroy)(Preference);
  Status (*MatmulPreferenceSetAttribute)(Preference, int attribute, const void* value, size_t bytes);
  Status (*MatmulAlgoGetHeuristic)(Handle, MatmulDesc, MatrixLayout a, MatrixLayout b, MatrixLayout c,
                                   MatrixLayout d, Preference, int requested, Heuristic*, int* returned);
  Status (*Matmul)(Handle, MatmulDesc, const void* alpha, const void* a, MatrixLayout, const void* b,
                   MatrixLayout, const void* beta, const void* c, MatrixLayout, void* d, MatrixLayout,
                   const Algorithm*, void* workspace, size_t workspace_bytes, cudaStream_t);
};

struct Found {
  const Library* library;  // null where `error` says why
  std::string error;
};

// Looks for it once. What the process has already (torch's) is taken first, then what the loader finds, then
// what PyPI's packages have beside the running Python's packages.
const Found& find();

}  // namespace dsbuild::ops::cublaslt
