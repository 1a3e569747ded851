#include "arch/coverage.h"

#include <utility>

#include "arch/arch_list.h"

namespace dsbuild {
namespace {

int specificity(Suffix suffix) {
  switch (suffix) {
    case Suffix::none:
      return 0;
    case Suffix::f:
      return 1;
    case Suffix::a:
      break;
  }
  return 2;
}

// Whether `a` is nearer to the GPU than `b`, where both run on it in the same way.
bool is_nearer(const Target& a, const Target& b) {
  return std::pair(a.cc, specificity(a.suffix)) > std::pair(b.cc, specificity(b.suffix));
}

ArchSet all_real_targets() {
  ArchSet targets;
  for (const ArchRow& row : arch_table())
    targets.insert({row.cc, Suffix::none, CodeKind::real});
  return targets;
}

}  // namespace

std::string Coverage::text() const {
  switch (runs) {
    case Runs::natively:
      return "native (" + by->name() + ")";
    case Runs::by_ptx:
      return "by PTX (" + by->name() + ")";
    case Runs::not_at_all:
      break;
  }
  return "will not run";
}

Coverage coverage_of(const ArchSet& images, ComputeCapability gpu) {
  Coverage coverage{gpu, runs_on(images, gpu), std::nullopt};
  if (coverage.runs == Runs::not_at_all) return coverage;
  for (const Target& image : images)
    if (runs_on(image, gpu) == coverage.runs && (!coverage.by || is_nearer(image, *coverage.by)))
      coverage.by = image;
  return coverage;
}

Result<std::vector<ComputeCapability>> parse_gpus(std::string_view text, const std::string& where,
                                                  const std::vector<ComputeCapability>& visible) {
  DSBUILD_TRY(request, parse_arch_list(text, where));
  auto targets = resolve_arch_request(request, all_real_targets(), 0, visible);
  if (!targets) {
    targets.error().where = where;
    targets.error().fix = "Name the GPUs instead: " + where + " 8.6,9.0";
    return tl::unexpected<Error>(targets.error());
  }
  std::vector<ComputeCapability> gpus;
  for (const Target& target : *targets)
    if (gpus.empty() || gpus.back() != target.cc) gpus.push_back(target.cc);
  return gpus;
}

}  // namespace dsbuild
