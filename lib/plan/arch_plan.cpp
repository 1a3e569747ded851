#include "plan/arch_plan.h"

#include "settings/given_options.h"

#include <algorithm>

namespace dsbuild {
namespace {

bool has_ptx(const ArchSet& set) {
  return std::any_of(set.begin(), set.end(), [](const Target& target) { return target.is_virtual(); });
}

// A workload asks for an op's own archs.
ArchSet asked_of(const ArchPlanInput& input, const OpBuilder& builder) {
  return input.settings.selection.archs_of(builder.spec().op_name(), input.requested);
}

WhenContext context_of(const ArchPlanInput& input, const OpBuilder& builder, ArchSet archs) {
  return when_context(input.registry, input.requirements, toolkit_of(input.toolkits, builder.spec()),
                      input.cpu, std::move(archs));
}

// The op's set after its own filter and the toolkit's; what was lost goes to `planned.dropped`.
ArchSet filter_by_op_and_toolkit(const ArchPlanInput& input, const OpBuilder& builder, PlannedOp& planned) {
  FilteredArchs filtered =
      builder.filter_archs(targets_of(asked_of(input, builder), *vendor_of(builder.spec())));
  planned.specialised = filtered.specialised;
  for (const DroppedArch& drop : filtered.dropped)
    planned.dropped.push_back({drop.target, DroppedBy::op, drop.reason});
  ArchSet kept;
  const Toolkit* toolkit = toolkit_of(input.toolkits, builder.spec());
  for (const Target& target : filtered.kept) {
    if (!toolkit || toolkit->targets.count(target) > 0)
      kept.insert(target);
    else
      planned.dropped.push_back({target, DroppedBy::toolkit, toolkit->short_name() + " cannot target it"});
  }
  return kept;
}

// A 9.0 in the request does not reach a source that is for 9.0a only: say what would.
void warn_of_specialisation(const ArchSet& op_archs, const SourceSpec& source, const PlannedOp& planned,
                            std::vector<Warning>& warnings) {
  for (const ArchPattern& pattern : source.archs.only) {
    const Target& form = pattern.target;
    if (form == form.plain()) continue;
    const bool base_asked = std::any_of(op_archs.begin(), op_archs.end(), [&](const Target& target) {
      return target == target.plain() && target.base() == form.base();
    });
    if (base_asked)
      warnings.push_back(warning("source_left_out", source.origin.text,
                                 planned.name + ": " + source.id() + " is left out: it is for " +
                                     pattern.text() + " only, and " + form.base().text() + " was asked for",
                                 "Ask for " + pattern.text() + ", or put `specialise: [\"" + pattern.text() +
                                     "\"]` into the op's archs."));
  }
}

void plan_sources(const ArchPlanInput& input, const OpBuilder& builder, const ArchSet& op_archs,
                  PlannedOp& planned, std::vector<Warning>& warnings) {
  bool has_device_code = false;
  const BackendKind backend = builder.spec().backend;
  for (const SourceSpec& source : builder.sources(context_of(input, builder, op_archs))) {
    const bool is_device_source = source.has_device_code(backend);
    const FilteredArchs filtered = apply_filter(source.archs, op_archs);
    has_device_code = has_device_code || is_device_source;
    const bool nothing_left = filtered.kept.empty() && (is_device_source || !source.archs.empty());
    if (nothing_left) {
      planned.left_out.push_back(source.id());
      warn_of_specialisation(op_archs, source, planned, warnings);
      continue;
    }
    planned.sources.push_back({source, is_device_source ? filtered.kept : ArchSet{}});
    for (const auto& [built, asked] : filtered.specialised)
      planned.specialised.emplace(built, asked);
    if (is_device_source) planned.archs = union_of(planned.archs, filtered.kept);
  }
  if (!has_device_code) return;
  for (const Target& target : op_archs) {
    const bool kept = planned.archs.count(target) > 0 ||
                      std::any_of(planned.specialised.begin(), planned.specialised.end(),
                                  [&](const auto& pair) { return pair.second == target; });
    if (!kept) planned.dropped.push_back({target, DroppedBy::source, "no source of the op is for it"});
  }
}

std::string supported_text(const OpBuilder& builder) {
  const std::string text = builder.spec().archs.text();
  return text.empty() ? "any arch" : text;
}

std::string lowest_that_works(const OpBuilder& builder) {
  const ArchFilter& filter = builder.spec().archs;
  if (!filter.only.empty()) return filter.only.front().text();
  if (filter.min) return filter.min->text();
  return filter.max ? filter.max->text() : "8.0";
}

void plan_device_op(const ArchPlanInput& input, const OpBuilder& builder, PlannedOp& planned,
                    std::vector<Warning>& warnings) {
  const ArchSet op_archs = filter_by_op_and_toolkit(input, builder, planned);
  if (!op_archs.empty()) plan_sources(input, builder, op_archs, planned, warnings);
  std::sort(planned.dropped.begin(), planned.dropped.end(),
            [](const PlanDrop& a, const PlanDrop& b) { return a.target < b.target; });
  const BackendKind backend = builder.spec().backend;
  const bool device_code_left =
      std::any_of(planned.sources.begin(), planned.sources.end(),
                  [&](const PlannedSource& s) { return s.source.has_device_code(backend); });
  const bool wants_device_code =
      op_archs.empty() || std::any_of(builder.spec().sources.begin(), builder.spec().sources.end(),
                                      [&](const SourceSpec& s) { return s.has_device_code(backend); });
  if (wants_device_code && !device_code_left) {
    planned.status = OpStatus::skip;
    planned.reason = "no arch left: supports " + supported_text(builder) + ", requested " +
                     arch_text(asked_of(input, builder));
    return;
  }
  const ArchSet asked = targets_of(asked_of(input, builder), *vendor_of(builder.spec()));
  planned.lost_only_ptx = has_ptx(asked) && !planned.archs.empty() && !has_ptx(planned.archs);
  if (planned.lost_only_ptx)
    warnings.push_back(
        warning("lost_ptx", planned.name, "keeps no PTX of the request: it will not run on later GPUs",
                "Ask for PTX of an arch that the op supports (" + supported_text(builder) + ")."));
}

std::string join_reasons(const std::vector<std::string>& reasons) {
  return join(reasons, "; ");
}

bool uses_cpu_level(const ArchPlanInput& input, const OpBuilder& builder, const PlannedOp& planned) {
  const WhenContext context = context_of(input, builder, planned.archs);
  return std::any_of(planned.sources.begin(), planned.sources.end(),
                     [&](const PlannedSource& planned_source) {
                       return builder.uses_cpu_level(planned_source.source, context);
                     });
}

PlannedOp plan_op(const ArchPlanInput& input, const OpBuilder& builder, const SelectedOp& selected,
                  std::vector<Warning>& warnings) {
  PlannedOp planned;
  planned.name = builder.name();
  planned.wanted = selected.wanted;
  if (selected.wanted == Wanted::off) {
    planned.reason = selected.because;
    return planned;
  }
  planned.status = OpStatus::skip;
  const BackendKindRow& kind = kind_row(builder.spec().backend);
  if (!kind.is_built) {
    planned.reason = std::string("backend ") + kind.key + " is not built by this version";
  } else if (const ArchSet asked = asked_of(input, builder); is_for_others(builder.spec(), asked)) {
    planned.reason = why_for_others(builder.spec(), asked);
  } else if (kind.vendor && !toolkit_of(input.toolkits, builder.spec())) {
    planned.reason = "no " + to_upper(kind.key) + " toolkit";
  } else if (!input.requirements.met(planned.name)) {
    planned.reason = join_reasons(input.requirements.reasons(planned.name));
  } else {
    planned.status = OpStatus::build;
    if (!selected.needed_by.empty()) planned.reason = selected.because;
    if (kind.vendor) {
      plan_device_op(input, builder, planned, warnings);
    } else {
      for (const SourceSpec& source : builder.sources(context_of(input, builder, {})))
        planned.sources.push_back({source, {}});
    }
    if (planned.status == OpStatus::build)
      planned.features_off = builder.features_off(context_of(input, builder, planned.archs));
    planned.uses_cpu_level = uses_cpu_level(input, builder, planned);
  }
  return planned;
}

// What the findings warn of, once, however many ops it is about.
void add_finding_warnings(const ArchPlanInput& input, ArchPlan& plan) {
  for (const PlannedOp& op : plan.ops) {
    if (op.status != OpStatus::build) continue;
    for (const Finding& finding : input.requirements.by_op.at(op.name))
      if (finding.warning &&
          std::find(plan.warnings.begin(), plan.warnings.end(), *finding.warning) == plan.warnings.end())
        plan.warnings.push_back(*finding.warning);
  }
}

// An op whose needed op is not built cannot work either.
void skip_ops_that_lack_a_need(const ArchPlanInput& input, ArchPlan& plan) {
  for (bool changed = true; changed;) {
    changed = false;
    for (PlannedOp& op : plan.ops) {
      if (op.status != OpStatus::build) continue;
      const OpBuilder& builder = *input.registry.find(op.name);
      for (const std::string& need : builder.needs(context_of(input, builder, op.archs))) {
        const PlannedOp* needed = plan.find(need);
        if (needed && needed->status == OpStatus::build) continue;
        op.status = OpStatus::skip;
        op.reason = "needs " + need + ", which is not built" +
                    (needed && !needed->reason.empty() ? ": " + needed->reason : std::string());
        changed = true;
        break;
      }
    }
  }
}

// "--ops", "DS_BUILD_FP_QUANTIZER".
std::string asked_by(const ArchPlanInput& input, const std::string& op) {
  for (const SelectedOp& selected : input.selected.ops)
    if (selected.name == op) return selected.because;
  return "--ops";
}

// That is the same on every machine.
bool has_faulty_source(const ArchPlanInput& input, const std::string& op) {
  const std::vector<Finding>& findings = input.requirements.by_op.at(op);
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return !finding.ok && finding.kind == RequirementKind::source;
  });
}

tl::unexpected<Error> refuse_unmet(const ArchPlanInput& input, const PlannedOp& op) {
  const std::string fix = join(input.requirements.fixes(op.name), "\n");
  if (has_faulty_source(input, op.name))
    return fail(Exit::unmet, "faulty_source", asked_by(input, op.name),
                op.name + " cannot be built from these sources: " + op.reason, fix);
  return fail(Exit::unmet, "op_not_compatible", asked_by(input, op.name),
              op.name + " cannot be built here: " + op.reason, fix);
}

std::string what_machine_lacks(const Settings& settings) {
  return "`" + own_command({"report"}, given_pack(settings)) + "` shows what this machine lacks.";
}

// An op asked for by name that cannot be built is an error, not a skip.
Result<void> check_named_ops(const ArchPlanInput& input, const ArchPlan& plan) {
  for (const PlannedOp& op : plan.ops) {
    if (op.wanted != Wanted::by_name || op.status != OpStatus::skip) continue;
    const OpBuilder& builder = *input.registry.find(op.name);
    if (!input.requirements.met(op.name)) return refuse_unmet(input, op);
    const bool no_arch = vendor_of(builder.spec()) && toolkit_of(input.toolkits, builder.spec());
    const std::string fix = no_arch ? "Ask for an arch that it supports, for example --arch " +
                                          replace_all(arch_list(asked_of(input, builder)), ";", ",") + "," +
                                          lowest_that_works(builder) + "."
                                    : what_machine_lacks(input.settings);
    return fail(Exit::unmet, no_arch ? MessageCode("op_has_no_arch") : MessageCode("op_not_compatible"),
                asked_by(input, op.name), op.name + " cannot be built: " + op.reason, fix);
  }
  return {};
}

bool has_device_code(const ArchPlanInput& input, const PlannedOp& op) {
  return vendor_of(input.registry.find(op.name)->spec()) != nullptr;
}

std::string skip_list(const ArchPlan& plan) {
  std::string text;
  for (const PlannedOp& op : plan.ops)
    if (op.status == OpStatus::skip) text += "\n  " + op.name + ": " + op.reason;
  return text;
}

// What mends the requirements of the skipped ops, each once; `otherwise` where that is not what they lack.
std::string skip_fixes(const ArchPlanInput& input, const ArchPlan& plan, const std::string& otherwise) {
  std::vector<std::string> fixes;
  for (const PlannedOp& op : plan.ops) {
    if (op.status != OpStatus::skip) continue;
    for (const std::string& fix : input.requirements.fixes(op.name))
      if (std::find(fixes.begin(), fixes.end(), fix) == fixes.end()) fixes.push_back(fix);
  }
  return fixes.empty() ? otherwise : join(fixes, "\n");
}

Result<void> check_something_is_built(const ArchPlanInput& input, const ArchPlan& plan) {
  bool any_built = false, any_cuda_built = false, any_cuda_wanted = false;
  for (const PlannedOp& op : plan.ops) {
    any_built = any_built || op.status == OpStatus::build;
    any_cuda_built = any_cuda_built || (op.status == OpStatus::build && has_device_code(input, op));
    any_cuda_wanted = any_cuda_wanted || (op.wanted != Wanted::off && has_device_code(input, op));
  }
  if (any_cuda_wanted && !any_cuda_built && !input.settings.arch.value.is_default)
    return fail(
        Exit::unmet, "no_cuda_op", input.settings.arch.origin,
        "no CUDA op can be built for " + arch_text(input.requested) + ":" + skip_list(plan),
        skip_fixes(input, plan, "Ask for archs that an op supports, or name CPU ops alone in --ops."));
  if (!any_built)
    return fail(Exit::unmet, "nothing_to_build", "--ops", "no selected op can be built:" + skip_list(plan),
                skip_fixes(input, plan, what_machine_lacks(input.settings)));
  return {};
}

void plan_shared(ArchPlan& plan) {
  std::vector<ArchSet> sets;
  for (const PlannedOp& op : plan.ops)
    if (op.status == OpStatus::build) sets.push_back(op.archs);
  plan.shared = shared_archs(sets);
  for (PlannedOp& op : plan.ops)
    if (op.status == OpStatus::build) op.extra = difference(op.archs, plan.shared);
}

// The ops of a workload are for the archs that each was loaded for.
bool has_archs_of_its_own(const Selection& selection) {
  return std::any_of(selection.workload.begin(), selection.workload.end(),
                     [](const auto& op) { return !op.second.archs.empty(); });
}

Result<void> check_shared(const ArchPlanInput& input, ArchPlan& plan) {
  std::string per_op;
  for (const PlannedOp& op : plan.ops)
    if (op.status == OpStatus::build && !op.archs.empty())
      per_op += "\n  " + op.name + ": " + arch_text(op.archs);
  if (!plan.shared.empty() || per_op.empty() || has_archs_of_its_own(input.settings.selection)) return {};
  const std::string what = "no arch is built by all ops:" + per_op;
  if (!input.settings.allow_disjoint_archs.value)
    return fail(
        Exit::unmet, "disjoint_archs", input.settings.arch.origin, what,
        "Add an arch that all of them support, build them apart (--ops), or pass --allow-disjoint-archs.");
  plan.warnings.push_back(warning("disjoint_archs", input.settings.arch.origin, what,
                                  "Each op names all of its archs; add one that all support to share it."));
  return {};
}

}  // namespace

const char* word(DroppedBy by) {
  switch (by) {
    case DroppedBy::toolkit:
      return "toolkit";
    case DroppedBy::op:
      return "op";
    case DroppedBy::source:
      return "source";
  }
  return "";
}

const char* word(OpStatus status) {
  switch (status) {
    case OpStatus::build:
      return "build";
    case OpStatus::skip:
      return "skip";
    case OpStatus::off:
      return "off";
  }
  return "";
}

const PlannedOp* ArchPlan::find(const std::string& name) const {
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const PlannedOp& op) { return op.name == name; });
  return found == ops.end() ? nullptr : &*found;
}

std::vector<std::string> ArchPlan::skipped() const {
  std::vector<std::string> names;
  for (const PlannedOp& op : ops)
    if (op.status == OpStatus::skip) names.push_back(op.name);
  return names;
}

ArchSet shared_archs(const std::vector<ArchSet>& op_sets) {
  std::map<const Vendor*, ArchSet> shared;
  for (const ArchSet& set : op_sets)
    for (const Vendor* vendor : vendors_of(set)) {
      const ArchSet own = targets_of(set, *vendor);
      const auto [known, is_first] = shared.emplace(vendor, own);
      if (!is_first) known->second = intersection(known->second, own);
    }
  ArchSet all;
  for (const auto& [vendor, targets] : shared)
    all = union_of(all, targets);
  return all;
}

ArchSet kept_targets(const Settings& settings, const Registry& registry, const SelectedOps& selected,
                     const ArchSet& requested) {
  ArchSet kept;
  for (const SelectedOp& op : selected.ops) {
    const OpBuilder& builder = *registry.find(op.name);
    const Vendor* vendor = vendor_of(builder.spec());
    if (op.wanted == Wanted::off || !vendor) continue;
    const ArchSet asked = settings.selection.archs_of(builder.spec().op_name(), requested);
    const ArchSet op_archs = builder.filter_archs(targets_of(asked, *vendor)).kept;
    for (const SourceSpec& source : builder.spec().sources)
      if (source.has_device_code(builder.spec().backend))
        kept = union_of(kept, apply_filter(source.archs, op_archs).kept);
  }
  return kept;
}

PlannedOp draft_op(const ArchPlanInput& input, const OpBuilder& builder) {
  PlannedOp planned;
  planned.name = builder.name();
  planned.status = OpStatus::build;
  std::vector<Warning> warnings;
  plan_device_op(input, builder, planned, warnings);
  return planned;
}

ArchPlan draft_archs(const ArchPlanInput& input) {
  ArchPlan plan;
  plan.requested = input.requested;
  for (const SelectedOp& selected : input.selected.ops)
    plan.ops.push_back(plan_op(input, *input.registry.find(selected.name), selected, plan.warnings));
  skip_ops_that_lack_a_need(input, plan);
  add_finding_warnings(input, plan);
  plan_shared(plan);
  return plan;
}

Result<ArchPlan> plan_archs(const ArchPlanInput& input) {
  ArchPlan plan = draft_archs(input);
  DSBUILD_CHECK(check_named_ops(input, plan));
  DSBUILD_CHECK(check_something_is_built(input, plan));
  DSBUILD_CHECK(check_shared(input, plan));
  return plan;
}

}  // namespace dsbuild
