#include "plan/precompiled_header.h"

#include <algorithm>
#include <numeric>

#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "base/digest.h"
#include "nvcc/step_file.h"

namespace dsbuild {
namespace {

// Measured on one core, in seconds; only their ratios matter.
constexpr double k_precompile_seconds = 39;
constexpr double k_seconds_with = 11;
constexpr double k_seconds_without = 24;
constexpr double k_seconds_per_target = 12;

// A macro that the header reads; gcc itself refuses a precompiled header that saw another one.
bool is_torchs_macro(const std::string& flag) {
  if (flag.starts_with("-DTORCH_EXTENSION_NAME=")) return false;
  return flag.starts_with("-DTORCH_") || flag.starts_with("-D_GLIBCXX_") || flag.starts_with("-DPYBIND11_");
}

// Of an edge's flags those that the header is compiled with: all but the op's own macros and folders.
std::vector<std::string> header_flags(const Edge& edge) {
  std::vector<std::string> flags;
  for (const std::string& flag : edge.flags) {
    const bool of_op = flag.starts_with("-I") || flag.starts_with("-U") ||
                       (flag.starts_with("-D") && !is_torchs_macro(flag));
    if (!of_op) flags.push_back(flag);
  }
  return flags;
}

struct Group {
  std::string header;  // "pch/01234567/torch.h"
  std::vector<Edge*> members;
};

using Groups = std::map<std::string, Group>;

Groups group_by_flags(const BuildPlanInput& input, BuildPlan& plan) {
  Groups groups;
  for (Edge& edge : plan.edges) {
    if (edge.kind != EdgeKind::cxx_compile || input.history.torch_sources.count(edge.inputs.front()) == 0)
      continue;
    const std::string key = (edge.by_host_compiler ? "host\n" : "\n") + shell_join(header_flags(edge));
    Group& group = groups[key];
    group.header = std::string(k_headers_folder) + "/" + sha256(key).substr(0, 8) + "/torch.h";
    group.members.push_back(&edge);
  }
  return groups;
}

double guessed_seconds(const Edge& edge) {
  if (edge.kind == EdgeKind::cxx_compile) return k_seconds_without;
  return k_seconds_without + k_seconds_per_target * static_cast<double>(edge.targets.size());
}

// What all edges take together on these cores, before anything is precompiled.
double guessed_wall(const BuildPlanInput& input, const BuildPlan& plan) {
  double seconds = 0;
  for (const Edge& edge : plan.edges)
    if (edge.is_compile()) seconds += guessed_seconds(edge);
  return seconds / std::max(input.jobs, 1);
}

// The fewest users that save more time than the header takes.
size_t fewest_users() {
  return 1 + static_cast<size_t>(k_precompile_seconds / (k_seconds_without - k_seconds_with));
}

bool pays(const Group& group, double wall) {
  return group.members.size() >= fewest_users() && wall > k_precompile_seconds + k_seconds_with;
}

bool is_wanted(const BuildPlanInput& input, const Group& group, double wall) {
  const HostCompiler* compiler =
      group.members.front()->by_host_compiler ? &*input.toolkits.of(nvidia())->host : input.cxx;
  if (compiler->family != "gcc") return false;
  switch (input.settings.precompile.value) {
    case Precompile::on:
      return true;
    case Precompile::off:
      return false;
    case Precompile::automatic:
      break;
  }
  return pays(group, wall);
}

// The runtime of the ops' own toolkit stands first: cuBLAS's headers, where they are those beside torch,
// include the driver_types.h next to them, of torch's CUDA version, which a newer toolkit's runtime cannot
// use.
std::string header_text(const Group& group) {
  const bool has_cuda = group.members.front()->by_host_compiler;
  return std::string(has_cuda ? "#include <cuda_runtime_api.h>\n" : "") + "#include <" + k_torch_header +
         ">\n";
}

Edge precompile_edge(const Group& group) {
  const Edge& member = *group.members.front();
  Edge edge;
  edge.op = k_torch_header;
  edge.flags = header_flags(member);
  edge.flags.insert(edge.flags.end(), {"-x", "c++-header"});
  edge.inputs = {group.header};
  for (const std::string& input : member.implicit_inputs)
    if (input.starts_with("tools/")) edge.implicit_inputs.push_back(input);
  edge.output = group.header + ".gch";
  edge.by_host_compiler = member.by_host_compiler;
  return edge;
}

}  // namespace

bool includes_torch_header(std::string_view source_text) {
  for (const std::string& line : split_lines(source_text)) {
    const std::vector<std::string> words = split(replace_all(line, "#", " # "), " \t");
    if (words.size() >= 3 && words[0] == "#" && words[1] == "include" &&
        words[2] == "<" + std::string(k_torch_header) + ">")
      return true;
  }
  return false;
}

void precompile_torch_header(const BuildPlanInput& input, BuildPlan& plan) {
  const double wall = guessed_wall(input, plan);
  std::vector<Edge> precompiles;
  for (const auto& [flags, group] : group_by_flags(input, plan)) {
    plan.files.push_back({group.header, header_text(group)});
    const bool wanted = is_wanted(input, group, wall);
    if (wanted) precompiles.push_back(precompile_edge(group));
    for (Edge* edge : group.members) {
      edge->implicit_inputs.push_back(wanted ? group.header + ".gch" : group.header);
      edge->flags.insert(edge->flags.end(), {"-include", group.header});
    }
  }
  plan.edges.insert(plan.edges.begin(), precompiles.begin(), precompiles.end());
}

void name_users_of_precompiled_headers(Precompile setting, BuildPlan& plan) {
  for (const Edge& header : plan.edges) {
    if (header.op != k_torch_header) continue;
    std::string text = std::to_string(setting == Precompile::on ? 1 : fewest_users()) + "\n";
    for (const Edge& edge : plan.edges)
      if (edge.after.empty() && edge.is_dirty_after(header.output))
        text += shell_join(step_words(plan, edge)) + "\n";
    plan.files.push_back({header.output + k_users_end, text});
  }
}

}  // namespace dsbuild
