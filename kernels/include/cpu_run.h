// A piece of one tensor that an optimiser's step works on, between a CPU op's binding and its paths.
#pragma once

#include <cstddef>

#include "float_type.h"

namespace dsbuild::ops {

constexpr int k_max_states = 2;  // moments of one parameter

struct CpuRun {
  float* param;
  const void* grad;
  float* states[k_max_states];
  size_t count;
};

// Of one gradient. Each source has its own (cpu_loop.h says why).
[[maybe_unused]] static constexpr size_t grad_bytes(FloatType type) {
  return type == FloatType::float32 ? 4 : 2;
}

// One path of an op: each is in a source of its own, built with the flags of its instruction set.
template <class Coefficients>
using CpuStep = void(const Coefficients&, const CpuRun&, FloatType grad_type);

}  // namespace dsbuild::ops
