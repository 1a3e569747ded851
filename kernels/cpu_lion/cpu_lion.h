// The paths of one Lion step on the CPU.
#pragma once

#include "cpu_run.h"
#include "lion.h"

namespace dsbuild::ops {

CpuStep<LionCoefficients> lion_step_scalar, lion_step_avx2, lion_step_avx512;

}  // namespace dsbuild::ops
