#include "plan/hip_slices.h"

#include <algorithm>

#include "base/build_layout.h"
#include "binary/offload_bundle.h"

namespace dsbuild {
namespace {

// "obj/adam/adam.cu/adam.gfx90a_xnack_on.co"
std::string image_path(const Edge& whole, const Target& target) {
  return Path(whole.output).replace_extension("." + plain_word(target) + ".co").string();
}

Edge part_of(const Edge& whole, EdgeKind kind, std::string part, std::string output) {
  Edge edge = whole;
  edge.kind = kind;
  edge.part = std::move(part);
  edge.output = std::move(output);
  edge.targets.clear();
  return edge;
}

Edge slice_edge(const Edge& whole, const Target& target) {
  Edge edge = part_of(whole, EdgeKind::hip_slice, target.name(), image_path(whole, target));
  edge.targets = {target};
  edge.flags.insert(edge.flags.end(), {"--cuda-device-only", "--no-gpu-bundle-output"});
  return edge;
}

// The driver of clang 19 and older gives -cuid to the host's code of a whole command and not where it
// compiles that alone: its compiler proper is told.
Edge host_edge(const Edge& whole) {
  Edge edge = part_of(whole, EdgeKind::hip_compile, "host code", host_object_of(whole.output));
  const auto unit_id = std::find_if(edge.flags.begin(), edge.flags.end(),
                                    [](const std::string& flag) { return flag.starts_with("-cuid="); });
  edge.flags.insert(edge.flags.end(), {"--cuda-host-only", "-Xclang", *unit_id});
  return edge;
}

// As clang calls its bundler: the host without any code, the targets in their order.
Edge bundle_edge(const Edge& whole, const HipSliceInput& input) {
  Edge edge = part_of(whole, EdgeKind::hip_bundle, "images", whole.output);
  edge.inputs = {host_object_of(whole.output)};
  edge.flags = {bundle_entry_id(input.host, input.clang)};
  for (const Target& target : whole.targets) {
    edge.inputs.push_back(image_path(whole, target));
    edge.flags.push_back(bundle_entry_id("hipv4-amdgcn-amd-amdhsa--" + target.name(), input.clang));
  }
  return edge;
}

}  // namespace

std::vector<SlicedCommand> slice_hip_edges(BuildPlan& plan, const HipSliceInput& input) {
  std::map<std::string, std::vector<Edge>> units;
  std::vector<SlicedCommand> commands;
  for (const Edge& whole : plan.edges) {
    if (whole.kind != EdgeKind::hip_compile) continue;
    std::vector<Edge>& parts = units[whole.output];
    for (const Target& target : whole.targets)
      parts.push_back(slice_edge(whole, target));
    parts.push_back(host_edge(whole));
    parts.push_back(bundle_edge(whole, input));
    commands.push_back({whole, {}});
  }
  replace_by_parts(plan, std::move(units));
  return commands;
}

}  // namespace dsbuild
