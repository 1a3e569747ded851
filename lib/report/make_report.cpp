#include <algorithm>

#include "load/fit.h"
#include "report/report.h"
#include "sys/site_packages.h"
#include "toolkit/family.h"

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
  const Vendor* vendor = vendor_of(spec);
  if (const DeviceTools* tools = vendor ? survey.tools_of(*vendor) : nullptr)
    return finding_of(RequirementKind::cuda, family_for(*vendor).brand + std::string(" toolkit"),
                      error_in(tools->chosen), tools->toolkit() ? toolkit_line(*tools->toolkit()) : "");
  return finding_of(RequirementKind::command, "C++ compiler", error_in(survey.cxx),
                    survey.cxx ? survey.cxx->path.string() : "");
}

// What the row says of an op that one of dsbuild's manifests has. The first is the one that is described.
void add_installed(const ManifestOp& op, Installation by, const std::vector<Target>& gpus, ReportRow& row) {
  const bool is_first = !row.installed();
  row.installed_by.push_back(std::move(by));
  if (!is_first) return;
  row.archs = op.archs;
  row.features_off = op.features_off;
  if (!row.archs.empty())
    for (const Target& gpu : gpus)
      row.coverage.push_back(coverage_of_modules(op.modules(), gpu));
}

// Without what is behind a '+': the same for the loader of the wheel (templates/wheel/ops.py).
std::string release_of(const std::string& version) {
  return version.substr(0, version.find('+'));
}

// Why a wheel's op is not used by what is here; "": it is. Its GPUs are judged by the coverage.
std::string misfit_of(const ManifestOp& op, const InstalledWheel& wheel, const Report& report) {
  const std::string& source = wheel.manifest.source_version;
  if (report.deepspeed && wheel.manifest.pack == "deepspeed" && !source.empty() &&
      release_of(report.deepspeed->version) != release_of(source))
    return "it is made for DeepSpeed " + source + ", and " +
           (report.deepspeed->version.empty() ? "another" : report.deepspeed->version) + " is here";
  const LoadMachine machine{{}, report.host.cpu_features};
  if (!wheel.manifest.torch) return fit_of(op, wheel.manifest, machine, std::nullopt).misfit;
  return fit_of(op, wheel.manifest, machine, LoadPackages{report.torch, {}}).misfit;
}

void add_wheels(const Report& report, const std::string& pack, const std::vector<Target>& gpus,
                ReportRow& row) {
  for (const InstalledWheel& wheel : report.wheels) {
    const ManifestOp* op = wheel.manifest.pack == pack ? wheel.manifest.find(row.op) : nullptr;
    if (!op) continue;
    const std::string misfit = misfit_of(*op, wheel, report);
    if (misfit.empty())
      add_installed(*op, {"wheel", wheel.name, wheel.folder}, gpus, row);
    else
      row.notes.push_back("the wheel " + wheel.name + " has it, not for this: " + misfit);
  }
}

// As ds_report has it: recorded when DeepSpeed was built, and for the accelerator that it runs on.
void add_deepspeed(const Report& report, const std::string& accelerator, ReportRow& row) {
  if (!report.deepspeed || std::ranges::count(report.deepspeed->ops, row.op) == 0) return;
  if (report.deepspeed->accelerator == accelerator)
    row.installed_by.push_back({"deepspeed", "", report.deepspeed->folder});
  else
    row.notes.push_back("DeepSpeed has it built, for the accelerator " + report.deepspeed->accelerator +
                        ", not for " + accelerator);
}

ReportRow row_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned,
                 const Report& report, const std::vector<Target>& gpus) {
  ReportRow row;
  static_cast<OpCompatibility&>(row) = compatibility_of(builder, survey, planned);
  const Registry& registry = survey.selected.registry;
  if (const ManifestOp* op = report.bundle ? report.bundle->find(row.op) : nullptr)
    add_installed(*op, {"bundle", "", report.bundle_path}, gpus, row);
  add_wheels(report, registry.pack, gpus, row);
  if (registry.pack == "deepspeed") add_deepspeed(report, registry.accelerator, row);
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

// What DeepSpeed's sources are taken from comes first: it may be no installed one.
void add_installed_packages(const Survey& survey, const System& system, Report& report) {
  const Setting<std::string>& python = survey.settings().python;
  std::vector<Path> folders =
      python.is_default() ? find_site_packages(system, python.value) : site_packages_of(system, python.value);
  report.wheels = find_installed_wheels(folders, system.files);
  if (survey.selected.registry.pack == "deepspeed")
    folders.insert(folders.begin(), survey.selected.registry.source_root);
  report.deepspeed = find_installed_deepspeed(folders, system.files);
}

// The bundle, else what wheels of this pack hold.
Gated gated(const Report& report, const std::string& pack) {
  if (report.bundle) return gated(*report.bundle, report.bundle_path.string());
  Gated all{report.bundle_path.string(), "op", {}};
  for (const InstalledWheel& wheel : report.wheels) {
    if (wheel.manifest.pack != pack) continue;
    const Gated own = gated(wheel.manifest, wheel.folder.string());
    all.where = own.where;
    all.libraries.insert(all.libraries.end(), own.libraries.begin(), own.libraries.end());
  }
  return all;
}

}  // namespace

OpCompatibility compatibility_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned) {
  OpCompatibility found;
  found.op = builder.name();
  found.selected = planned.status != OpStatus::off;
  found.findings = {tool_finding(builder.spec(), survey)};
  for (const Finding& finding : survey.requirements.by_op.at(found.op))
    found.findings.push_back(finding);
  if (planned.status == OpStatus::skip && found.compatible()) found.skipped = planned.reason;
  return found;
}

Result<Report> make_report(const Survey& survey, const Gate& gate, Session& session) {
  Report report;
  report.host = survey.machine.host;
  report.pack = survey.selected.registry.pack + " in " + survey.selected.registry.spec_root.string();
  for (const DeviceTools& tools : survey.devices)
    report.chosen.push_back({family_for(*tools.vendor).brand,
                             tools.toolkit() ? std::optional(*tools.toolkit()) : std::nullopt,
                             error_in(tools.chosen)});
  report.toolkits = survey.machine.toolkits;
  report.cxx_error = error_in(survey.cxx);
  report.gpus = find_gpus(session.system);
  report.bundle_path = survey.settings().out.value;
  report.warnings = survey.warnings;
  add_bundle(session.system.files, report);
  add_programs(survey, session, report);
  add_installed_packages(survey, session.system, report);
  const std::vector<Target> gpus = gate.gpus.empty() ? archs_of_gpus(report.gpus) : gate.gpus;
  if (gate.asks()) {
    DSBUILD_TRY(verdict, judge(gate, gated(report, survey.selected.registry.pack)));
    report.gate = std::move(verdict);
  }
  const ArchPlan draft = draft_archs(survey.arch_plan_input());
  for (const OpBuilder& builder : survey.selected.registry.ops)
    report.ops.push_back(row_of(builder, survey, *draft.find(builder.name()), report, gpus));
  return report;
}

}  // namespace dsbuild
