#include "plan/shared_sources.h"

#include <algorithm>

#include "inputs/preprocessor_words.h"

namespace dsbuild {
namespace {

// Two edges of which this is the same may have the same preprocessed text.
std::string compiled_as(const BuildPlan& plan, const Edge& edge) {
  return shell_join(compiler_of(plan, edge)) + "\n" + edge.inputs.front() + "\n" +
         target_names(edge.targets) + "\n" + shell_join(words_behind_preprocessor(edge.flags));
}

// By op, so that which of two is compiled does not depend on how long they took the last time.
std::vector<Edge*> compiles_by_op(BuildPlan& plan) {
  std::vector<Edge*> compiles;
  for (Edge& edge : plan.edges)
    if (edge.is_compile() && edge.kind != EdgeKind::hip_compile && !edge.source.empty() &&
        !has_debug_info(edge))
      compiles.push_back(&edge);
  std::sort(compiles.begin(), compiles.end(),
            [](const Edge* a, const Edge* b) { return a->output < b->output; });
  return compiles;
}

}  // namespace

bool has_debug_info(const Edge& edge) {
  return std::any_of(edge.flags.begin(), edge.flags.end(), [](const std::string& flag) {
    return flag.starts_with("-g") || flag == "-Xcompiler=-g" || flag == "-lineinfo";
  });
}

void mark_shared_sources(BuildPlan& plan) {
  std::map<std::string, Edge*> firsts;
  for (Edge* edge : compiles_by_op(plan)) {
    const auto [first, is_new] = firsts.emplace(compiled_as(plan, *edge), edge);
    if (is_new || first->second->op == edge->op) continue;
    // Slices are known by their text anyhow.
    first->second->is_shared = edge->is_shared = edge->kind == EdgeKind::cxx_compile;
    edge->after = first->second->output;
  }
}

}  // namespace dsbuild
