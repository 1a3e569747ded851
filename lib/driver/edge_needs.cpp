#include "driver/edge_needs.h"

#include <algorithm>

#include "plan/backend.h"

namespace dsbuild {
namespace {

// A tool does not take the same each time, an edit may make it take more, and another arch's may too.
ByteCount with_margin(ByteCount peak, bool is_measured) {
  return peak + peak / (is_measured ? 16 : 8) + (8 << 20);
}

}  // namespace

int threads_of_nvcc(const Edge& edge, const Plan& plan, const BuildPlan& graph) {
  if (edge.kind != EdgeKind::cuda_compile) return 1;
  const Settings& settings = plan.settings();
  const int chosen = settings.nvcc_threads.value;
  const int threads =
      chosen > 1 ? chosen : threads_per_nvcc(graph.edges, jobs_for(settings, plan.survey.machine.host));
  return std::clamp(threads, 1, std::max(static_cast<int>(edge.targets.size()), 1));
}

EdgeNeeds::EdgeNeeds(const Plan& plan, const BuildPlan& graph)
    : plan_(plan), graph_(graph), pack_(plan.registry().pack), history_(plan.history) {
  for (const Edge& edge : graph.edges)
    edges_[edge.output] = &edge;
}

GateNeeds EdgeNeeds::of(const GateAsk& ask) {
  const Edge* edge = find(ask.output);
  if (!edge) return {};
  // All parts of the source are known by what one of them has read.
  if (ask.text.reads_torch) history_.torch_readers.insert(input_of(edge->source));
  const EdgeCost cost = expected_cost(history_, pack_, *edge, ask.text);
  const bool measured = is_measured(history_, pack_, *edge);
  // What was measured is the largest process of the edge.
  const auto at_once = static_cast<ByteCount>(threads_of_nvcc(*edge, plan_, graph_));
  return {with_margin(cost.look_bytes, measured), with_margin(cost.peak_bytes, measured) * at_once};
}

void EdgeNeeds::learn(const std::string& output, const GateUse& use) {
  const Edge* edge = find(output);
  if (!edge || edge->source.empty()) return;
  EdgeCost& cost = history_.measured[history_key(pack_, *edge)];
  if (use.peak_bytes > 0) cost.peak_bytes = use.peak_bytes;
  if (use.look_bytes > 0) cost.look_bytes = use.look_bytes;
}

const Edge* EdgeNeeds::find(const std::string& output) const {
  const auto found = edges_.find(output);
  return found == edges_.end() ? nullptr : found->second;
}

}  // namespace dsbuild
