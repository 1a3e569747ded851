#include "plan/twins.h"

#include <algorithm>

namespace dsbuild {
namespace {

bool takes_a_word_more(const std::string& flag) {
  return flag == "-isystem" || flag == "-include" || flag == "-I" || flag == "-D" || flag == "-U";
}

bool is_for_preprocessor(const std::string& flag) {
  return takes_a_word_more(flag) || flag.starts_with("-D") || flag.starts_with("-U") ||
         flag.starts_with("-I");
}

// What is left of the flags once the text is preprocessed.
std::vector<std::string> flags_behind_preprocessor(const std::vector<std::string>& flags) {
  std::vector<std::string> left;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!is_for_preprocessor(flags[i])) left.push_back(flags[i]);
    if (takes_a_word_more(flags[i])) ++i;
  }
  return left;
}

bool has_debug_info(const Edge& edge) {
  return std::any_of(edge.flags.begin(), edge.flags.end(), [](const std::string& flag) {
    return flag.starts_with("-g") || flag == "-Xcompiler=-g" || flag == "-lineinfo";
  });
}

// Two edges with the same key are twins.
std::string twin_key(const BuildPlan& plan, const Edge& edge) {
  const auto& compiler = edge.kind == EdgeKind::cuda_compile ? plan.tools.nvcc
                         : edge.by_host_compiler             ? plan.tools.host_cxx
                                                             : plan.tools.cxx;
  return shell_join(compiler) + "\n" + edge.inputs.front() + "\n" + target_names(edge.targets) + "\n" +
         shell_join(flags_behind_preprocessor(edge.flags));
}

// By op, so that which of two is compiled does not depend on how long they took the last time.
std::vector<Edge*> compiles_by_op(BuildPlan& plan) {
  std::vector<Edge*> compiles;
  for (Edge& edge : plan.edges)
    if (edge.is_compile() && !edge.source.empty() && !has_debug_info(edge)) compiles.push_back(&edge);
  std::sort(compiles.begin(), compiles.end(),
            [](const Edge* a, const Edge* b) { return a->output < b->output; });
  return compiles;
}

}  // namespace

void find_twins(BuildPlan& plan) {
  std::map<std::string, const Edge*> firsts;
  for (Edge* edge : compiles_by_op(plan)) {
    const auto [first, is_new] = firsts.emplace(twin_key(plan, *edge), edge);
    if (is_new || first->second->op == edge->op) continue;
    edge->twin = first->second->output;
    edge->twin_flags = first->second->flags;
    edge->implicit_inputs.push_back(edge->twin);
  }
}

}  // namespace dsbuild
