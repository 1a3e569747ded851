// report: what there is, and what is missing, even with no CUDA, no GPU, no Ninja and no bundle.
#include "stages.h"

namespace dsbuild {
namespace {

// The toolkit that a build with these settings would take, else the first one found; where one was demanded,
// no other.
const Toolkit* toolkit_of(const Base& base, const Selected& selected, std::optional<ChosenToolkit>& chosen) {
  const Result<ChosenToolkit> choice =
      choose_toolkit(base.settings, base.toolkits, selected.demand, selected.gpus);
  if (choice) chosen = *choice;
  if (chosen) return &chosen->toolkit;
  for (const Toolkit& toolkit : base.toolkits.found)
    if (base.settings.cuda_home.value.empty() || toolkit.origin == "--cuda-home") return &toolkit;
  return nullptr;
}

std::vector<std::string> reasons_of(const RequirementReport& requirements, const std::string& op) {
  std::vector<std::string> reasons;
  const auto findings = requirements.by_op.find(op);
  if (findings == requirements.by_op.end()) return reasons;
  for (const Finding& finding : findings->second)
    if (!finding.ok)
      reasons.push_back(finding.subject + ": " + finding.why +
                        (finding.fix.empty() ? "" : " (fix: " + finding.fix + ")"));
  return reasons;
}

ReportRow row_of(const OpBuilder& builder, const RequirementReport& requirements, const Toolkit* toolkit,
                 const HostCompiler* cxx, const Result<Manifest>& bundle) {
  ReportRow row;
  row.op = builder.name();
  row.reasons = reasons_of(requirements, row.op);
  const bool needs_toolkit = builder.spec().backend == BackendKind::cuda;
  if (needs_toolkit && !toolkit)
    row.reasons.push_back("no CUDA toolkit (fix: dsbuild toolkits get 13.5, or 11.8 for archs below 7.5)");
  else if (needs_toolkit && !toolkit->host)
    row.reasons.push_back("CUDA " + toolkit->version.short_text() +
                          " accepts none of this machine's compilers (" + toolkit->bounds.text() + ")");
  else if (!needs_toolkit && !cxx)
    row.reasons.push_back("no C++ compiler (fix: apt-get install g++, or set CXX)");
  row.compatible = row.reasons.empty();
  if (!bundle) return row;
  for (const ManifestOp& op : bundle->ops)
    if (op.name == row.op) {
      row.installed = true;
      row.archs = op.archs;
    }
  return row;
}

std::string gpu_text(const std::vector<ComputeCapability>& gpus) {
  std::vector<std::string> texts;
  for (const ComputeCapability& gpu : gpus)
    texts.push_back(gpu.text());
  return texts.empty() ? "none" : join(texts, " ");
}

std::string compiler_text(const std::vector<HostCompiler>& found) {
  if (found.empty()) return "none (fix: apt-get install g++)";
  return found.front().path.string() + ", " + found.front().family + " " + found.front().version.text();
}

// nvcc compresses device code from CUDA 12.8 on with a method that older drivers cannot read.
std::string compress_text(const Toolkit& toolkit) {
  if (!toolkit.has_option("--compress-mode"))
    return "as CUDA " + toolkit.version.short_text() + " does; any driver";
  return "--compress-mode available; all but `none` and `speed` need a driver of CUDA 12.4 or newer";
}

void add_environment(Report& report, const Base& base, const Registry& registry, const Toolkit* toolkit,
                     const Result<Manifest>& bundle) {
  auto& facts = report.environment;
  const Host& host = base.host;
  facts.push_back({"dsbuild version", k_version});
  facts.push_back({"machine", host.machine + ", " + plural(static_cast<size_t>(host.cores), "core") + ", " +
                                  human_size(host.memory_bytes) + " free"});
  facts.push_back({"GPUs", gpu_text(report.gpus)});
  facts.push_back({"pack", registry.pack + " in " + registry.spec_root.string()});
  if (toolkit) {
    facts.push_back({"CUDA toolkit", toolkit->version.text() + " in " + toolkit->home.string() + " (" +
                                         toolkit->origin + ")"});
    facts.push_back({"CUDA host compiler", toolkit->host
                                               ? toolkit->host->path.string() + ", " + toolkit->host->family +
                                                     " " + toolkit->host->version.text()
                                               : "none that it accepts (" + toolkit->bounds.text() + ")"});
    facts.push_back({"device code compression", compress_text(*toolkit)});
  } else {
    facts.push_back({"CUDA toolkit", "none found"});
  }
  facts.push_back({"C++ compiler", compiler_text(base.toolkits.host_compilers)});
  facts.push_back({"ninja", report.ninja
                                ? report.ninja->version.text() + " in " + report.ninja->program.string()
                                : "none of version 1.11 or newer"});
  const std::string out = base.settings.out.value.string();
  facts.push_back({"bundle", bundle ? out + ", " + plural(bundle->ops.size(), "op") + ", CUDA " +
                                          (bundle->toolkit.version.empty() ? "none" : bundle->toolkit.version)
                                    : out + ": " + bundle.error().what});
}

// No selection at all is no error for a report.
Result<Selected> load_selected_or_all(const CommandContext& context, Base& base) {
  if (base.settings.selection == Selection{}) {
    base.settings.selection.ops_given = true;
    base.settings.selection.all = true;
  }
  return load_selected(context, base);
}

}  // namespace

Result<int> run_report(const CommandContext& context) {
  DSBUILD_TRY(base, load_base(context));
  DSBUILD_TRY(selected, load_selected_or_all(context, base));
  std::optional<ChosenToolkit> chosen;
  const Toolkit* toolkit = toolkit_of(base, selected, chosen);
  const HostCompiler* cxx =
      base.toolkits.host_compilers.empty() ? nullptr : &base.toolkits.host_compilers.front();
  const RequirementReport requirements =
      check_requirements(base.settings, selected.registry, toolkit, chosen ? chosen->requested : ArchSet{},
                         cxx, base.host, context.system, *base.user_facts);
  const Result<Manifest> bundle = load_manifest(base.settings.out.value, context.system.files);

  Report report;
  if (toolkit) report.toolkit = *toolkit;
  report.toolkits = base.toolkits;
  report.gpus = find_gpus(context.system);
  if (const auto ninja = find_ninja(base.settings, context.system, *base.user_facts)) report.ninja = *ninja;
  base.user_facts->save();
  bool all_compatible = true;
  for (const OpBuilder& builder : selected.registry.ops) {
    report.ops.push_back(row_of(builder, requirements, toolkit, cxx, bundle));
    all_compatible = all_compatible && report.ops.back().compatible;
  }
  add_environment(report, base, selected.registry, toolkit, bundle);
  report.warnings = base.settings.warnings;
  print_warnings(report.warnings, base.settings, context);
  DSBUILD_CHECK(print_result(base.settings.json.value
                                 ? render_report_json(report)
                                 : render_report(report, style_for(base.settings, context, false))));
  return base.settings.strict.value && !all_compatible ? static_cast<int>(Exit::unmet) : 0;
}

}  // namespace dsbuild
