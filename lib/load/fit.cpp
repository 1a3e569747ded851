#include "load/fit.h"

#include "arch/cpu_level.h"
#include "base/text.h"

namespace dsbuild {
namespace {

std::string module_name(const ManifestOp& op, size_t module) {
  for (const ManifestSource& source : op.sources)
    if (!source.archs.empty() && module-- == 0) return source.path;
  return op.file;
}

std::string misfit_of(const Coverage& coverage, const ManifestOp& op, const Manifest& manifest,
                      const LoadMachine& machine) {
  const std::string gpu = coverage.gpu.text();
  if (coverage.runs == Runs::not_at_all) {
    const std::vector<ArchSet> modules = op.modules();
    const bool has_several = modules.size() > 1;
    return (has_several ? module_name(op, coverage.module) : op.name) + " has no image for " + gpu +
           " (it has " + arch_text(modules.at(coverage.module)) + ")";
  }
  const Version made_by = parse_version(manifest.toolkit.version).value_or(Version{});
  const Version& driver = machine.gpus.driver_cuda;
  const bool is_too_new =
      !made_by.empty() && !driver.empty() &&
      std::pair(made_by.major(), made_by.minor()) > std::pair(driver.major(), driver.minor());
  if (coverage.runs == Runs::by_driver && is_too_new)
    return op.name + " has only PTX for " + gpu + ", of CUDA " + made_by.short_text() +
           ", and this driver knows CUDA " + driver.short_text();
  return "";
}

}  // namespace

Fit fit_of(const ManifestOp& op, const Manifest& manifest, const LoadMachine& machine) {
  Fit fit;
  if (op.cpu_baseline) {
    const auto missing = missing_features(op.cpu_baseline->features, machine.cpu_features);
    if (!missing.empty())
      fit.misfit =
          op.name + " is built for " + op.cpu_baseline->level + ", and this CPU lacks " + join(missing, ", ");
  }
  const std::vector<ArchSet> modules = op.modules();
  if (modules.empty()) return fit;
  for (const Target& gpu : machine.gpus.archs) {
    fit.coverage.push_back(coverage_of_modules(modules, gpu));
    if (fit.misfit.empty()) fit.misfit = misfit_of(fit.coverage.back(), op, manifest, machine);
  }
  return fit;
}

}  // namespace dsbuild
