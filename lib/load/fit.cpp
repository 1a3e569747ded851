#include "load/fit.h"

#include <algorithm>
#include <tuple>

#include "arch/cpu_level.h"
#include "arch/nvidia.h"
#include "base/text.h"
#include "requirements/probe.h"

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
  if (coverage.gpu.vendor == &nvidia() && coverage.runs == Runs::by_driver && is_too_new)
    return op.name + " has only PTX for " + gpu + ", of CUDA " + made_by.short_text() +
           ", and this driver knows CUDA " + driver.short_text();
  return "";
}

// Of one that torch's own extensions are built against.
bool is_python_module(const ManifestOp& op, const Manifest& manifest) {
  return manifest.torch && !op.module.empty();
}

std::string short_or_none(const std::string& version) {
  return version.empty() ? "none" : parse_version(version).value_or(Version{}).short_text();
}

std::string torch_misfit(const ManifestTorch& built, const std::optional<Torch>& here) {
  if (!here) return "torch " + short_or_none(built.version) + ", and there is none here";
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"torch ", short_or_none(built.version), short_or_none(here->version)},
      {"torch with CUDA ", short_or_none(built.cuda), short_or_none(here->cuda)},
      {"torch with ROCm ", short_or_none(built.hip), short_or_none(here->hip)},
      {"torch with _GLIBCXX_USE_CXX11_ABI=", built.cxx11_abi ? "1" : "0", here->cxx11_abi ? "1" : "0"},
      {"Python with modules called ", built.ext_suffix, here->python.ext_suffix}};
  for (const auto& [what, wanted, found] : rows)
    if (wanted != found) return what + wanted + ", and here is " + found;
  return "";
}

std::string packages_misfit(const ManifestOp& op, const Manifest& manifest, const LoadPackages& packages) {
  if (is_python_module(op, manifest)) {
    const std::string misfit = torch_misfit(*manifest.torch, packages.torch);
    return misfit.empty() ? "" : op.name + " is built for " + misfit;
  }
  const Version built = parse_version(manifest.tvm_ffi).value_or(Version{});
  const Version& here = packages.tvm_ffi;
  if (built.empty() || here.empty()) return "";
  const bool is_served = built.major() == here.major() && built.minor() <= here.minor();
  return is_served
             ? ""
             : op.name + " is built for tvm-ffi " + built.short_text() + ", and here is " + here.short_text();
}

// The visible ones of the vendor that the op is built for.
std::vector<Target> own_gpus(const ManifestOp& op, const VisibleGpus& gpus) {
  const std::vector<const Vendor*> vendors = vendors_of(op.archs);
  std::vector<Target> own = gpus.archs;
  std::erase_if(own,
                [&](const Target& gpu) { return std::ranges::find(vendors, gpu.vendor) == vendors.end(); });
  return own;
}

// Where there are none: the others, which it does not run on.
std::vector<Target> gpus_to_serve(const ManifestOp& op, const VisibleGpus& gpus) {
  std::vector<Target> own = own_gpus(op, gpus);
  return own.empty() ? gpus.archs : own;
}

}  // namespace

LoadPackages find_load_packages(const ManifestOp& op, const Manifest& manifest, const Interpreter& python) {
  LoadPackages packages;
  if (is_python_module(op, manifest)) {
    const auto torch = find_torch(python);
    if (torch) packages.torch = *torch;
  } else if (!manifest.tvm_ffi.empty()) {
    packages.tvm_ffi = find_tvm_ffi(python);
  }
  return packages;
}

Fit fit_of(const ManifestOp& op, const Manifest& manifest, const LoadMachine& machine,
           const std::optional<LoadPackages>& packages) {
  Fit fit;
  if (packages) fit.misfit = packages_misfit(op, manifest, *packages);
  if (op.cpu_baseline && fit.misfit.empty()) {
    const auto missing = missing_features(op.cpu_baseline->features, machine.cpu_features);
    if (!missing.empty())
      fit.misfit =
          op.name + " is built for " + op.cpu_baseline->level + ", and this CPU lacks " + join(missing, ", ");
  }
  const std::vector<ArchSet> modules = op.modules();
  if (modules.empty()) return fit;
  for (const Target& gpu : gpus_to_serve(op, machine.gpus)) {
    fit.coverage.push_back(coverage_of_modules(modules, gpu));
    if (fit.misfit.empty()) fit.misfit = misfit_of(fit.coverage.back(), op, manifest, machine);
  }
  return fit;
}

FittingOp fitting_op(const std::vector<const ManifestOp*>& entries, const Manifest& manifest,
                     const LoadMachine& machine, const std::optional<Interpreter>& python) {
  std::optional<FittingOp> first;  // of those for a GPU that is here, where there is any
  for (const ManifestOp* op : entries) {
    const auto packages = python ? std::optional(find_load_packages(*op, manifest, *python)) : std::nullopt;
    const FittingOp entry{op, fit_of(*op, manifest, machine, packages)};
    if (entry.fit.misfit.empty()) return entry;
    const bool is_nearer =
        first && own_gpus(*first->op, machine.gpus).empty() && !own_gpus(*op, machine.gpus).empty();
    if (!first || is_nearer) first = entry;
  }
  return *first;
}

}  // namespace dsbuild
