#include "arch/coverage.h"

#include <map>

#include "arch/arch_entries.h"
#include "arch/vendor.h"
#include "base/text.h"

namespace dsbuild {

std::string Coverage::text() const {
  switch (runs) {
    case Runs::natively:
      return "native (" + by->name() + ")";
    case Runs::by_generic:
      return "by generic (" + by->name() + ")";
    case Runs::by_driver:
      return "by " + to_upper(by->image_kind()) + " (" + by->name() + ")";
    case Runs::not_at_all:
      break;
  }
  return "will not run";
}

Coverage coverage_of(const ArchSet& images, const Target& gpu) {
  Coverage coverage{gpu, runs_on(images, gpu), std::nullopt};
  if (coverage.runs == Runs::not_at_all) return coverage;
  for (const Target& image : images) {
    if (runs_on(image, gpu) != coverage.runs) continue;
    if (!coverage.by || gpu.vendor->is_nearer(image.code, coverage.by->code)) coverage.by = image;
  }
  return coverage;
}

Coverage coverage_of_modules(const std::vector<ArchSet>& modules, const Target& gpu) {
  std::optional<Coverage> worst;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].empty()) continue;
    Coverage coverage = coverage_of(modules[i], gpu);
    coverage.module = i;
    if (!worst || coverage.runs > worst->runs) worst = coverage;
  }
  return worst.value_or(Coverage{gpu, Runs::not_at_all, std::nullopt});
}

std::vector<ModuleCount> count_modules(const std::vector<ArchSet>& modules, const Target& gpu) {
  std::map<std::pair<Runs, std::optional<Target>>, size_t> counts;
  for (const ArchSet& module : modules) {
    if (module.empty()) continue;
    const Coverage coverage = coverage_of(module, gpu);
    ++counts[{coverage.runs, coverage.by}];
  }
  std::vector<ModuleCount> list;
  for (const auto& [way, count] : counts)
    list.push_back({way.first, way.second, count});
  return list;
}

std::string text_of(const std::vector<ModuleCount>& counts) {
  std::string text;
  for (const ModuleCount& count : counts) {
    text += text.empty() ? plural(count.modules, "module") : ", " + std::to_string(count.modules);
    if (!count.by) {
      text += " not at all";
    } else if (count.runs == Runs::by_driver) {
      text += " by " + to_upper(count.by->image_kind()) + " of " + count.by->name();
    } else if (count.runs == Runs::by_generic) {
      text += " by generic " + count.by->name();
    } else {
      text += " by " + count.by->name();
    }
  }
  return text;
}

Result<std::vector<Target>> parse_gpus(std::string_view text, const std::string& where,
                                       const std::vector<Target>& visible) {
  const std::string instead = "Name the GPUs instead: " + where + " 8.6,9.0";
  DSBUILD_TRY(request, parse_arch_entries(text, where, EntriesOf::gpus));
  if (request.native && visible.empty())
    return fail(Exit::unmet, "no_gpu", where, "'native' was asked for, but this machine shows no GPU",
                instead);
  ArchSet gpus;
  if (request.native) gpus.insert(visible.begin(), visible.end());
  for (const Target& target : request.targets) {
    if (target.vendor->known_gpus().count(target.base()) == 0)
      return fail(Exit::usage, "unknown_arch", where, "'" + target.text() + "' is not a GPU", instead);
    gpus.insert(target.gpu());
  }
  if (request.all || request.all_major) {
    for (const Vendor* vendor : vendors_of(request, {}))
      for (const Target& known : vendor->all_of(vendor->known_gpus(), request.all_major))
        gpus.insert(known.gpu());
  }
  return std::vector<Target>(gpus.begin(), gpus.end());
}

}  // namespace dsbuild
