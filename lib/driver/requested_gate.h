// Checks a plan against --gpu, --max-size, --max-op-size and --strict (bundle/gate.h).
#pragma once

#include "bundle/gate.h"
#include "driver/plan.h"

namespace dsbuild {

// Errors: those of parse_gpus.
Result<Gate> requested_gate(const Settings& settings, System& system);

// The libraries that a plan will make. Their sizes are 0, since nothing is compiled yet.
Gated gated(const Plan& plan);
// Adds the gate's warnings to the plan. Errors: all failures as one error, and those of judge_gpus.
Result<void> check_gate(const Gate& gate, Plan& plan);

}  // namespace dsbuild
