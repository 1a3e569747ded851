// The second half of `dsbuild report`. What is missing comes with its fix.
#include <algorithm>

#include "arch/nvidia.h"
#include "report/report.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

std::string with_fix(const Message& message) {
  return message.what + (message.fix.empty() ? "" : "\nfix: " + message.fix);
}

std::string machine_text(const Host& host) {
  return host.machine + ", " + plural(static_cast<size_t>(host.cores), "core") + ", " +
         human_size(host.memory_bytes) + " free";
}

std::string cgroup_text(const CgroupLimits& limits) {
  std::vector<std::string> parts;
  if (limits.cores) parts.push_back(plural(static_cast<size_t>(*limits.cores), "core"));
  if (limits.memory_bytes) parts.push_back(human_size(*limits.memory_bytes) + " of memory left");
  return parts.empty() ? "none" : join(parts, ", ");
}

std::string gpus_text(const std::vector<Gpu>& gpus) {
  std::vector<std::string> lines;
  for (const Gpu& gpu : gpus)
    lines.push_back(gpu.name + (gpu.arch ? ", " + gpu.arch->text() : ", nothing is built for it") +
                    (gpu.is_integrated ? ", integrated" : "") +
                    (gpu.driver.empty() ? "" : ", driver " + gpu.driver));
  return lines.empty() ? "none" : join(lines, "\n");
}

std::string compiler_text(const HostCompiler& compiler) {
  return compiler.path.string() + ", " + compiler.family + " " + compiler.version.text();
}

std::string compilers_text(const Report& report) {
  std::vector<std::string> lines;
  for (const HostCompiler& compiler : report.toolkits.host_compilers)
    lines.push_back(compiler_text(compiler) + " (" + compiler.origin + ")");
  if (report.cxx_error) lines.push_back(with_fix(*report.cxx_error));
  return join(lines, "\n");
}

std::string toolkit_text(const ReportToolkit& chosen) {
  if (chosen.error) return with_fix(*chosen.error);
  const Toolkit& toolkit = *chosen.toolkit;
  return toolkit.version.text() + " in " + toolkit.home.string() + " (" + toolkit.origin + ")";
}

std::string toolkits_text(const CompilerFamily& family, const Toolkits& toolkits) {
  std::vector<std::string> lines;
  for (const Toolkit& toolkit : toolkits.found)
    if (toolkit.family == &family) lines.push_back(toolkit_line(toolkit));
  for (const RejectedToolkit& rejected : toolkits.rejected)
    if (rejected.family == &family)
      lines.push_back("not usable: " + rejected.home.string() + " (" + rejected.origin +
                      "): " + rejected.reason);
  return lines.empty() ? "none" : join(lines, "\n");
}

// nvcc compresses device code from CUDA 12.8 on with a method that older drivers cannot read.
std::string compress_text(const Toolkit& toolkit) {
  if (!toolkit.has_option("--compress-mode"))
    return "as CUDA " + toolkit.version.short_text() + " does; any driver";
  return "--compress-mode available; all but `none` and `speed` need a driver of CUDA 12.4 or newer";
}

std::string bundle_text(const Report& report) {
  const std::string path = report.bundle_path.string();
  if (!report.bundle) return path + ": " + (report.bundle_error ? report.bundle_error->what : "none");
  const std::string &cuda = report.bundle->toolkit.version, &hip = report.bundle->hip.version;
  std::string text = path + ", " + plural(report.bundle->ops.size(), "op");
  if (!cuda.empty() || hip.empty()) text += ", CUDA " + (cuda.empty() ? "none" : cuda);
  return text + (hip.empty() ? "" : ", HIP clang " + hip);
}

std::string bundle_archs(const Manifest& bundle) {
  ArchSet archs;
  for (const ManifestOp& op : bundle.ops)
    archs = union_of(archs, op.archs);
  return arch_text(archs) + (bundle.shared.empty() ? "" : ", shared by all: " + arch_text(bundle.shared));
}

// The driver compiles PTX, so it must know the PTX of the CUDA version that wrote it.
bool relies_on_ptx(const Report& report) {
  return std::any_of(report.ops.begin(), report.ops.end(), [](const ReportRow& row) {
    return std::any_of(row.coverage.begin(), row.coverage.end(),
                       [](const Coverage& coverage) { return coverage.runs == Runs::by_driver; });
  });
}

using Facts = std::vector<std::pair<std::string, std::string>>;

void add_toolkit_facts(const Report& report, Facts& facts) {
  for (const ReportToolkit& chosen : report.chosen) {
    facts.emplace_back(chosen.brand + " toolkit", toolkit_text(chosen));
    const Toolkit* toolkit = chosen.usable();
    if (!toolkit) continue;
    facts.emplace_back(chosen.brand + " host compiler", compiler_text(*toolkit->host));
    if (&toolkit->vendor() == &nvidia())
      facts.emplace_back("device code compression", compress_text(*toolkit));
  }
  for (const CompilerFamily* family : compiler_families())
    facts.emplace_back(std::string(family->brand) + " toolkits found",
                       toolkits_text(*family, report.toolkits));
}

void add_python_facts(const Report& report, Facts& facts) {
  facts.emplace_back("python", report.python
                                   ? report.python->version + " in " + report.python->executable.string()
                                   : "none");
  if (!report.torch) {
    facts.emplace_back("torch version", "none");
    return;
  }
  facts.emplace_back("torch version", report.torch->version);
  facts.emplace_back("torch cuda version", report.torch->cuda.empty() ? "None" : report.torch->cuda);
  facts.emplace_back("torch hip version", report.torch->hip.empty() ? "None" : report.torch->hip);
  facts.emplace_back("torch install path", report.torch->home.string());
}

// The names are ds_report's.
void add_installed_facts(const Report& report, Facts& facts) {
  facts.emplace_back("deepspeed install path", report.deepspeed ? report.deepspeed->folder.string() : "none");
  if (report.deepspeed) {
    const InstalledDeepSpeed& deepspeed = *report.deepspeed;
    facts.emplace_back("deepspeed info", deepspeed.version.empty() ? "unknown" : deepspeed.version);
    if (!deepspeed.ops.empty())
      facts.emplace_back(
          "deepspeed wheel compiled w.",
          "torch " + deepspeed.torch + ", cuda " + deepspeed.cuda + ", for " + deepspeed.accelerator);
  }
  std::vector<std::string> wheels;
  for (const InstalledWheel& wheel : report.wheels)
    wheels.push_back(wheel.folder.string() + ", " + plural(wheel.manifest.ops.size(), "op") + " of " +
                     wheel.manifest.pack + (wheel.manifest.source_version.empty() ? "" : " ") +
                     wheel.manifest.source_version);
  facts.emplace_back("op wheels", wheels.empty() ? "none" : join(wheels, "\n"));
}

void add_bundle_facts(const Report& report, Facts& facts) {
  facts.emplace_back("bundle", bundle_text(report));
  if (!report.bundle) return;
  facts.emplace_back("bundle archs", bundle_archs(*report.bundle));
  if (relies_on_ptx(report))
    facts.emplace_back("driver for PTX", "of CUDA " + report.bundle->toolkit.version + " or newer");
}

}  // namespace

Facts environment_facts(const Report& report) {
  Facts facts = {
      {"dsbuild version", k_version},
      {"machine", machine_text(report.host)},
      {"cgroup limits", cgroup_text(report.host.cgroup)},
      {"shared memory (/dev/shm) size",
       report.host.shared_memory_bytes == 0 ? "none" : human_size(report.host.shared_memory_bytes)},
      {"GPUs", gpus_text(report.gpus)},
      {"pack", report.pack}};
  add_toolkit_facts(report, facts);
  facts.emplace_back("C++ compilers", compilers_text(report));
  facts.emplace_back("ninja", report.ninja
                                  ? report.ninja->version.text() + " in " + report.ninja->program.string()
                              : report.ninja_error ? with_fix(*report.ninja_error)
                                                   : "none");
  add_python_facts(report, facts);
  add_installed_facts(report, facts);
  add_bundle_facts(report, facts);
  return facts;
}

}  // namespace dsbuild
