// From a parsed list to targets: the words that depend on a toolkit or on the machine's GPUs.
#include <iterator>

#include "arch/arch_list.h"

namespace dsbuild {
namespace {

// The highest row that is not newer than the toolkit. Up to 12.9 nvcc has 7.0, from 13.0 on 7.5 is the
// oldest; each list ends in PTX of its newest CC, so that newer GPUs can run it.
struct DefaultRow {
  int first_cuda;
  const char* list;
};
constexpr DefaultRow k_defaults[] = {
    {1300, "7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
    {1208, "7.0;7.5;8.0;8.6;8.9;9.0;10.0;12.0+PTX"},
    {1108, "7.0;7.5;8.0;8.6;8.9;9.0+PTX"},
    {1100, "7.0;7.5;8.0+PTX"},
    {0, "7.0+PTX"},
};

void add_ptx(ArchSet& set, ComputeCapability cc) {
  set.insert({cc, Suffix::none, CodeKind::ptx});
}

// nvcc's own expansion of -arch=all and -arch=all-major (its --dryrun shows it): without a and f; PTX of
// the highest X.0, even where X.1 is higher.
ArchSet expand_all(const ArchSet& toolkit_targets, bool major_only) {
  ArchSet expanded;
  ComputeCapability highest_major;
  for (const Target& target : toolkit_targets) {
    if (target.kind != CodeKind::real || target.suffix != Suffix::none) continue;
    const bool is_major = target.cc.minor == 0;
    if (is_major) highest_major = target.cc;
    if (is_major || !major_only || expanded.empty()) expanded.insert(target);
  }
  if (highest_major.major > 0) add_ptx(expanded, highest_major);
  return expanded;
}

ArchSet expand_native(const std::vector<ComputeCapability>& gpus) {
  ArchSet expanded;
  for (const ComputeCapability gpu : gpus)
    expanded.insert({gpu, Suffix::none, CodeKind::real});
  if (!expanded.empty()) add_ptx(expanded, std::prev(expanded.end())->cc);
  return expanded;
}

}  // namespace

ArchSet default_archs(int toolkit_version) {
  for (const DefaultRow& row : k_defaults) {
    if (toolkit_version >= row.first_cuda) return parse_arch_list(row.list, "default")->targets;
  }
  return {};
}

Result<ArchSet> resolve_arch_request(const ArchRequest& request, const ArchSet& toolkit_targets,
                                     int toolkit_version, const std::vector<ComputeCapability>& gpus) {
  if (request.native && gpus.empty()) {
    return fail(Exit::unmet, "no_gpu", "--arch native",
                "architecture 'native' was asked for, but this machine shows no GPU",
                "name the architectures instead, for example --arch \"8.0;9.0+PTX\"");
  }
  ArchSet resolved = request.targets;
  if (request.is_default) resolved = union_of(resolved, default_archs(toolkit_version));
  if (request.all) resolved = union_of(resolved, expand_all(toolkit_targets, false));
  if (request.all_major) resolved = union_of(resolved, expand_all(toolkit_targets, true));
  if (request.native) resolved = union_of(resolved, expand_native(gpus));
  return resolved;
}

}  // namespace dsbuild
