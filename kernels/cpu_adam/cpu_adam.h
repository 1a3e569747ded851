// The paths of one Adam step on the CPU.
#pragma once

#include "adam.h"
#include "cpu_run.h"

namespace dsbuild::ops {

CpuStep<AdamCoefficients> adam_step_scalar, adam_step_avx2, adam_step_avx512;

}  // namespace dsbuild::ops
