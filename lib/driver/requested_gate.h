// What --gpu, --max-size, --max-op-size and --strict ask of a bundle (bundle/gate.h).
#pragma once

#include "bundle/gate.h"
#include "driver/plan.h"

namespace dsbuild {

// Errors: those of parse_gpus.
Result<Gate> requested_gate(const Settings& settings, System& system);

// A plan's libraries, before anything is compiled. Sizes are 0.
Gated gated(const Plan& plan);
// The gate's warnings are the plan's from then on. Errors: the failures as one, and those of judge_gpus.
Result<void> check_gate(const Gate& gate, Plan& plan);

}  // namespace dsbuild
