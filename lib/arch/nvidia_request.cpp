#include "arch/nvidia_request.h"

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
  set.insert(NvidiaTarget{cc, Suffix::none, CodeKind::ptx});
}

}  // namespace

ArchSet all_nvidia_archs(const ArchSet& toolkit_targets, bool major_only) {
  ArchSet expanded;
  ComputeCapability highest_major;
  for (const Target& target : toolkit_targets) {
    if (target != target.base()) continue;
    const ComputeCapability cc = nvidia_target(target).cc;
    const bool is_major = cc.minor == 0;
    if (is_major) highest_major = cc;
    if (is_major || !major_only || expanded.empty()) expanded.insert(target);
  }
  if (highest_major.major > 0) add_ptx(expanded, highest_major);
  return expanded;
}

ArchSet native_nvidia_archs(const std::vector<Target>& gpus) {
  ArchSet expanded(gpus.begin(), gpus.end());
  if (!expanded.empty()) add_ptx(expanded, nvidia_target(*expanded.rbegin()).cc);
  return expanded;
}

ArchSet default_nvidia_archs(int cuda) {
  for (const DefaultRow& row : k_defaults) {
    if (cuda >= row.first_cuda) return parse_arch_list(row.list, "default")->targets;
  }
  return {};
}

}  // namespace dsbuild
