// report: what there is, and what is missing, even with no CUDA, no GPU, no Ninja, no Python and no bundle.
#include <algorithm>

#include "stages.h"

namespace dsbuild {
namespace {

Finding finding_of(RequirementKind kind, const std::string& subject, const std::optional<Error>& error,
                   const std::string& found) {
  Finding finding;
  finding.kind = kind;
  finding.subject = subject;
  finding.ok = !error;
  finding.why = error ? error->what : found;
  if (error) finding.fix = error->fix;
  return finding;
}

// The tools that an op of this backend is built with, as one more finding.
Finding tool_finding(BackendKind backend, const Stages& stages) {
  if (backend == BackendKind::cuda)
    return finding_of(RequirementKind::cuda, "CUDA toolkit", stages.toolkit_error,
                      stages.toolkit ? toolkit_line(*stages.toolkit) : "");
  return finding_of(RequirementKind::command, "C++ compiler", stages.cxx_error,
                    stages.cxx ? stages.cxx->path.string() : "");
}

ReportRow row_of(const OpBuilder& builder, const Stages& stages, const PlannedOp& planned,
                 const std::optional<Manifest>& bundle, const std::vector<ComputeCapability>& gpus) {
  ReportRow row;
  row.op = builder.name();
  row.selected = planned.status != OpStatus::off;
  row.findings = {tool_finding(builder.spec().backend, stages)};
  for (const Finding& finding : stages.requirements.by_op.at(row.op))
    row.findings.push_back(finding);
  if (planned.status == OpStatus::skip && row.compatible()) row.skipped = planned.reason;
  for (const ManifestOp& op : bundle ? bundle->ops : std::vector<ManifestOp>{}) {
    if (op.name != row.op) continue;
    row.installed = true;
    row.archs = op.archs;
    row.features_off = op.features_off;
  }
  for (const ComputeCapability& gpu : gpus)
    if (!row.archs.empty()) row.coverage.push_back(coverage_of(row.archs, gpu));
  return row;
}

void add_bundle(const CommandContext& context, Report& report) {
  auto manifest = load_manifest(report.bundle_path, context.system.files);
  if (manifest)
    report.bundle = std::move(*manifest);
  else
    report.bundle_error = manifest.error();
}

void add_programs(const CommandContext& context, Stages& stages, Report& report) {
  FactStore& facts = *stages.base.user_facts;
  if (const auto ninja = find_ninja(stages.base.settings, context.system, facts))
    report.ninja = *ninja;
  else
    report.ninja_error = ninja.error();
  const Interpreter interpreter{stages.base.settings.python.value, context.system, facts};
  if (const auto python = find_python(interpreter)) report.python = *python;
  if (stages.requirements.torch)
    report.torch = stages.requirements.torch;
  else if (const auto torch = report.python ? find_torch(interpreter) : stages.selected.torch)
    report.torch = *torch;
  facts.save();
}

Result<Report> make_report(const CommandContext& context, Stages& stages) {
  Report report;
  report.host = stages.base.host;
  report.pack = stages.selected.registry.pack + " in " + stages.selected.registry.spec_root.string();
  report.toolkit = stages.toolkit;
  report.toolkit_error = stages.toolkit_error;
  report.toolkits = stages.base.toolkits;
  report.cxx_error = stages.cxx_error;
  report.gpus = find_gpus(context.system);
  report.bundle_path = stages.base.settings.out.value;
  report.warnings = stages.warnings;
  add_bundle(context, report);
  add_programs(context, stages, report);
  DSBUILD_TRY(gpus, asked_gpus(context, report.gpus));
  const ArchPlan draft = draft_archs(arch_plan_input(stages));
  for (const OpBuilder& builder : stages.selected.registry.ops)
    report.ops.push_back(row_of(builder, stages, *draft.find(builder.name()), report.bundle, gpus));
  return report;
}

}  // namespace

Result<int> run_report(const CommandContext& context) {
  DSBUILD_TRY(stages, survey_stages(context));
  DSBUILD_TRY(report, make_report(context, stages));
  const Settings& settings = stages.base.settings;
  const ReportOptions options{context.line.hide_operator_status, context.line.hide_errors_and_warnings,
                              settings.verbosity > 0};
  if (!options.hide_errors_and_warnings) print_warnings(report.warnings, settings, context);
  DSBUILD_CHECK(print_result(settings.json.value
                                 ? render_report_json(report)
                                 : render_report(report, options, style_for(settings, context, false))));
  const bool lacks = std::any_of(report.ops.begin(), report.ops.end(),
                                 [](const ReportRow& row) { return row.selected && !row.compatible(); });
  return settings.strict.value && lacks ? static_cast<int>(Exit::unmet) : 0;
}

}  // namespace dsbuild
