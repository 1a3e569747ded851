// report: what there is, and what is missing, even with no CUDA, no GPU, no Ninja, no Python and no bundle.
#include <algorithm>

#include "build/survey.h"
#include "command.h"

namespace dsbuild {
namespace {

template <typename T>
std::optional<Error> error_in(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

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
Finding tool_finding(BackendKind backend, const Survey& survey) {
  if (backend == BackendKind::cuda)
    return finding_of(RequirementKind::cuda, "CUDA toolkit", error_in(*survey.cuda),
                      survey.toolkit() ? toolkit_line(*survey.toolkit()) : "");
  return finding_of(RequirementKind::command, "C++ compiler", error_in(survey.cxx),
                    survey.cxx ? survey.cxx->path.string() : "");
}

ReportRow row_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned,
                 const std::optional<Manifest>& bundle, const std::vector<ComputeCapability>& gpus) {
  ReportRow row;
  row.op = builder.name();
  row.selected = planned.status != OpStatus::off;
  row.findings = {tool_finding(builder.spec().backend, survey)};
  for (const Finding& finding : survey.requirements.by_op.at(row.op))
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

void add_programs(const Survey& survey, Session& session, Report& report) {
  FactStore& facts = session.facts;
  if (const auto ninja = find_ninja(survey.settings(), session.system, facts))
    report.ninja = *ninja;
  else
    report.ninja_error = ninja.error();
  const Interpreter interpreter{survey.settings().python.value, session.system, facts};
  if (const auto python = find_python(interpreter)) report.python = *python;
  if (survey.requirements.torch)
    report.torch = survey.requirements.torch;
  else if (const auto torch = report.python ? find_torch(interpreter) : survey.selected.torch)
    report.torch = *torch;
  facts.save();
}

Result<Report> make_report(const CommandContext& context, const Survey& survey, Session& session) {
  Report report;
  report.host = survey.machine.host;
  report.pack = survey.selected.registry.pack + " in " + survey.selected.registry.spec_root.string();
  if (survey.toolkit()) report.toolkit = *survey.toolkit();
  report.toolkit_error = error_in(*survey.cuda);
  report.toolkits = survey.machine.toolkits;
  report.cxx_error = error_in(survey.cxx);
  report.gpus = find_gpus(context.system);
  report.bundle_path = survey.settings().out.value;
  report.warnings = survey.warnings;
  add_bundle(context, report);
  add_programs(survey, session, report);
  DSBUILD_TRY(gpus, asked_gpus(context, report.gpus));
  const ArchPlan draft = draft_archs(survey.arch_plan_input());
  for (const OpBuilder& builder : survey.selected.registry.ops)
    report.ops.push_back(row_of(builder, survey, *draft.find(builder.name()), report.bundle, gpus));
  return report;
}

Result<int> run_report(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  Events silent;
  Session session(request.settings, context.system, silent);
  DSBUILD_TRY(survey, survey_all(std::move(request), session));
  DSBUILD_TRY(report, make_report(context, survey, session));
  const Settings& settings = survey.settings();
  const ReportOptions options{context.line.has("--hide_operator_status"),
                              context.line.has("--hide_errors_and_warnings"), settings.verbosity > 0};
  if (!options.hide_errors_and_warnings) print_warnings(report.warnings, settings, context);
  DSBUILD_CHECK(print_result(settings.json.value
                                 ? render_report_json(report)
                                 : render_report(report, options, style_for(settings, context, false))));
  const bool lacks = std::any_of(report.ops.begin(), report.ops.end(),
                                 [](const ReportRow& row) { return row.selected && !row.compatible(); });
  return settings.strict.value && lacks ? static_cast<int>(Exit::unmet) : 0;
}

}  // namespace

CommandRow report_command() {
  return {.name = "report",
          .help = "Show op by op what is installed and what this machine can build",
          .run = run_report,
          .examples = {{"dsbuild report", "what is installed, what this machine can build"},
                       {"dsbuild report --gpu 8.6,9.0", "how the bundle runs on those GPUs"},
                       {"dsbuild report --json", "the same for a script"}},
          .options = {{.names = "--gpu",
                       .type = "ARCHS",
                       .help = "How GPUs of these archs would run it: 8.6,9.0 or native or all"},
                      {.names = "--hide_operator_status", .help = "The environment alone"},
                      {.names = "--hide_errors_and_warnings", .help = "No reasons above the rows"}}};
}

}  // namespace dsbuild
