#include "registry/op_backends.h"

#include <algorithm>

namespace dsbuild {
namespace {

using Names = std::vector<std::string>;
using NamesByOp = std::map<std::string, Names>;  // what became of an op

std::vector<BackendKind> asked_backends(const OpSpec& spec, const std::vector<const Vendor*>& asked) {
  std::vector<BackendKind> backends;
  for (const BackendKind backend : spec.backends)
    if (kind_row(backend).is_built && std::ranges::count(asked, vendor_of(backend)) > 0)
      backends.push_back(backend);
  return backends;
}

void require(RequirementKind kind, OpSpec& spec) {
  Requirement requirement;
  requirement.kind = kind;
  spec.requires_.push_back(std::move(requirement));
}

// What is asked of CUDA's toolkit means nothing to others.
OpSpec with_own_requirements(OpSpec spec) {
  if (spec.backend != BackendKind::cuda)
    std::erase_if(spec.requires_, [](const Requirement& each) { return each.kind == RequirementKind::cuda; });
  if (spec.backend != BackendKind::hip) return spec;
  if (std::ranges::any_of(spec.sources, &SourceSpec::hipify)) require(RequirementKind::hipify, spec);
  if (has_value(spec, k_wavefront_value)) require(RequirementKind::wavefront, spec);
  return spec;
}

std::vector<OpSpec> split(const OpSpec& spec, const std::vector<const Vendor*>& asked) {
  const std::vector<BackendKind> backends = asked_backends(spec, asked);
  if (backends.empty()) return {spec};
  std::vector<OpSpec> split;
  for (const BackendKind backend : backends) {
    split.push_back(with_own_requirements(for_backend(spec, backend)));
    if (backends.size() == 1) continue;
    split.back().plain_name = spec.name;
    split.back().name += std::string(".") + kind_row(backend).key;
  }
  return split;
}

// The one for the same GPUs; of an op that became others, one that is for none of these.
std::string needed_name(const Names& names, const OpSpec& user) {
  const std::string own = std::string(".") + kind_row(user.backend).key;
  const auto found =
      std::ranges::find_if(names, [&](const std::string& name) { return name.ends_with(own); });
  return found == names.end() ? names.front() : *found;
}

void rename_needs(Registry& registry, const NamesByOp& became) {
  for (OpBuilder& op : registry.ops) {
    OpSpec spec = op.spec();
    for (Entry<std::string>& need : spec.needs)
      if (const auto names = became.find(need.value); names != became.end())
        need.value = needed_name(names->second, spec);
    op = OpBuilder(std::move(spec));
  }
}

}  // namespace

void split_by_backend(Registry& registry, SelectedOps& selected, const std::vector<const Vendor*>& asked) {
  std::vector<OpBuilder> ops;
  NamesByOp became;
  for (const OpBuilder& op : registry.ops)
    for (OpSpec& spec : split(op.spec(), asked)) {
      became[op.name()].push_back(spec.name);
      ops.emplace_back(std::move(spec));
    }
  registry.ops = std::move(ops);
  rename_needs(registry, became);
  std::vector<SelectedOp> all;
  for (const SelectedOp& op : selected.ops)
    for (const std::string& name : became.at(op.name)) {
      all.push_back(op);
      all.back().name = name;
    }
  selected.ops = std::move(all);
}

}  // namespace dsbuild
