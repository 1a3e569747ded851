#include "driver/requested_gate.h"

#include "arch/coverage.h"

namespace dsbuild {

Result<Gate> requested_gate(const Settings& settings, System& system) {
  Gate gate;
  gate.is_strict = settings.strict.value;
  gate.forbids_ptx_only = settings.policy.forbids_ptx_only.value;
  gate.max_bytes = settings.max_size.value;
  gate.max_op_bytes = settings.max_op_size.value.each;
  gate.max_of = {settings.max_op_size.value.of.begin(), settings.max_op_size.value.of.end()};
  const Setting<std::string>& gpus = settings.gpus;
  if (gpus.value.empty()) return gate;
  DSBUILD_TRY(targets, parse_gpus(gpus.value, gpus.origin, archs_of_gpus(find_gpus(system))));
  gate.gpus = std::move(targets);
  return gate;
}

Gated gated(const Plan& plan) {
  Gated gated{plan.settings().out.value.string(), "op", {}};
  for (const PlannedOp& op : plan.archs.ops) {
    if (op.status != OpStatus::build) continue;
    const OpSpec& spec = plan.survey.selected.registry.find(op.name)->spec();
    GatedLibrary library{spec.op_name(), op.name, 0, {}};
    if (makes_device_link(spec)) library.modules.push_back(op.archs);
    for (const PlannedSource& source : op.sources)
      if (!source.archs.empty() && !makes_device_link(spec)) library.modules.push_back(source.archs);
    gated.libraries.push_back(std::move(library));
  }
  return gated;
}

Result<void> check_gate(const Gate& gate, Plan& plan) {
  DSBUILD_TRY(verdict, judge_gpus(gate, gated(plan)));
  if (!verdict.failures.empty()) return tl::unexpected<Error>(one_of(verdict.failures));
  append(plan.warnings, verdict.warnings);
  return {};
}

}  // namespace dsbuild
