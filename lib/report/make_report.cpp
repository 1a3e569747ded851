#include <algorithm>

#include "report/report.h"

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

// The tools that an op is built with, as one more finding.
Finding tool_finding(const OpSpec& spec, const Survey& survey) {
  if (vendor_of(spec))
    return finding_of(RequirementKind::cuda, "CUDA toolkit", error_in(*survey.cuda),
                      survey.toolkit() ? toolkit_line(*survey.toolkit()) : "");
  return finding_of(RequirementKind::command, "C++ compiler", error_in(survey.cxx),
                    survey.cxx ? survey.cxx->path.string() : "");
}

ReportRow row_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned,
                 const std::optional<Manifest>& bundle, const std::vector<Target>& gpus) {
  ReportRow row;
  row.op = builder.name();
  row.selected = planned.status != OpStatus::off;
  row.findings = {tool_finding(builder.spec(), survey)};
  for (const Finding& finding : survey.requirements.by_op.at(row.op))
    row.findings.push_back(finding);
  if (planned.status == OpStatus::skip && row.compatible()) row.skipped = planned.reason;
  const ManifestOp* op = bundle ? bundle->find(row.op) : nullptr;
  if (!op) return row;
  row.installed = true;
  row.archs = op->archs;
  row.features_off = op->features_off;
  if (!row.archs.empty())
    for (const Target& gpu : gpus)
      row.coverage.push_back(coverage_of_modules(op->modules(), gpu));
  return row;
}

void add_bundle(const FileReader& files, Report& report) {
  auto manifest = load_manifest(report.bundle_path, files);
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

}  // namespace

Result<Report> make_report(const Survey& survey, const std::optional<std::string>& gpus_asked,
                           Session& session) {
  Report report;
  report.host = survey.machine.host;
  report.pack = survey.selected.registry.pack + " in " + survey.selected.registry.spec_root.string();
  if (survey.toolkit()) report.toolkit = *survey.toolkit();
  report.toolkit_error = error_in(*survey.cuda);
  report.toolkits = survey.machine.toolkits;
  report.cxx_error = error_in(survey.cxx);
  report.gpus = find_gpus(session.system);
  report.bundle_path = survey.settings().out.value;
  report.warnings = survey.warnings;
  add_bundle(session.system.files, report);
  add_programs(survey, session, report);
  std::vector<Target> gpus = archs_of_gpus(report.gpus);
  if (gpus_asked) {
    DSBUILD_TRY(asked, parse_gpus(*gpus_asked, "--gpu", gpus));
    gpus = std::move(asked);
  }
  const ArchPlan draft = draft_archs(survey.arch_plan_input());
  for (const OpBuilder& builder : survey.selected.registry.ops)
    report.ops.push_back(row_of(builder, survey, *draft.find(builder.name()), report.bundle, gpus));
  return report;
}

}  // namespace dsbuild
