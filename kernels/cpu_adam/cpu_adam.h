// The CPU paths of one Adam step: each in a source of its own, built with the flags of its instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "adam.h"
#include "float_type.h"

namespace dsbuild::ops {

// A run of elements of one tensor.
struct AdamRun {
  float* param;
  const void* grad;
  float* exp_avg;
  float* exp_avg_sq;
  size_t count;
};

struct CpuPath {
  const char* name;  // "avx512", "avx2" or "scalar"
  bool (*usable)();  // by the CPU at hand
  void (*step)(const AdamCoefficients&, const AdamRun&, FloatType);
};

// Fastest first; the last one, scalar, is always usable.
extern const CpuPath k_cpu_paths[];
extern const size_t k_cpu_path_count;

void adam_step_scalar(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type);
void adam_step_avx2(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type);
void adam_step_avx512(const AdamCoefficients& coefficients, const AdamRun& run, FloatType grad_type);

}  // namespace dsbuild::ops
