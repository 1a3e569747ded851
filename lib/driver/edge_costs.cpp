#include "driver/edge_costs.h"

#include <cmath>

#include "arch/nvidia.h"
#include "plan/backend.h"
#include "plan/precompiled_header.h"

namespace dsbuild {
namespace {

constexpr const char* k_unit = "milliseconds per target, bytes of memory, of the preprocessor's, written";

std::string fact_key(const std::string& history_key) {
  return "edge " + history_key;
}

std::optional<EdgeCost> parse_cost(const std::string& text) {
  std::vector<ByteCount> numbers;
  for (const std::string& word : split(text, " ")) {
    const auto number = whole_number<ByteCount>(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != 4) return std::nullopt;
  return EdgeCost{static_cast<double>(numbers[0]) / 1000, numbers[1], numbers[2], numbers[3]};
}

std::string render_cost(const EdgeCost& cost) {
  return std::to_string(std::lround(cost.seconds * 1000)) + " " + std::to_string(cost.peak_bytes) + " " +
         std::to_string(cost.look_bytes) + " " + std::to_string(cost.output_bytes);
}

// Of the whole file, and of its parts.
std::set<std::string> parts_of(const PlannedSource& source) {
  std::set<std::string> parts = {"", "front", "host", "fatbin", "host code", "images"};
  for (const Target& target : source.archs)
    parts.insert(target.vendor == &nvidia() ? virtual_name(target) : target.name());
  return parts;
}

class Recall {
 public:
  Recall(const Registry& registry, Session& session)
      : registry_(registry), facts_(session.facts), files_(session.system.files) {}

  void op(const PlannedOp& op, EdgeHistory& history) const {
    for (const PlannedSource& source : op.sources) {
      for (const std::string& part : parts_of(source))
        cost(history_key(registry_.pack, op.name, source.source.id(), part), history);
      if (source.source.seconds > 0)
        history.specified[history_key(registry_.pack, op.name, source.source.id())] = source.source.seconds;
      else if (const auto identity = files_.identity(registry_.source_root / source.source.path))
        history.source_bytes[source_path(source.source.path)] = identity->size;
    }
    for (const char* part : {"link", "verify"})
      cost(history_key(registry_.pack, op.name, "", part), history);
  }
  void cost(const std::string& key, EdgeHistory& history) const {
    const auto past = facts_.find(fact_key(key), k_unit);
    if (const auto known = past ? parse_cost(*past) : std::nullopt) history.measured[key] = *known;
  }

 private:
  const Registry& registry_;
  const FactStore& facts_;
  const FileReader& files_;
};

ByteCount written_by(const Edge& edge, const Path& folder, const FileReader& files) {
  ByteCount sum = 0;
  for (const auto& outputs : {std::vector<std::string>{edge.output}, edge.more_outputs})
    for (const std::string& output : outputs)
      if (const auto identity = files.identity(folder / output)) sum += identity->size;
  return sum;
}

}  // namespace

EdgeHistory recall_edge_costs(const ArchPlan& archs, const Registry& registry, Session& session) {
  EdgeHistory history;
  const Recall recall(registry, session);
  for (const PlannedOp& op : archs.ops)
    recall.op(op, history);
  recall.cost(history_key(registry.pack, k_torch_header, "", "header"), history);
  return history;
}

void remember_edge_costs(const Plan& plan, const std::vector<FinishedEdge>& finished,
                         const std::map<std::string, GateUse>& uses, Session& session) {
  const Path& folder = plan.settings().build_dir.value;
  for (const FinishedEdge& ended : finished) {
    const Edge& edge = *ended.edge;
    const auto found = uses.find(edge.output);
    const GateUse use = found == uses.end() ? GateUse{} : found->second;
    if (ended.failed || edge.kind == EdgeKind::comparison || (runs_tools(edge) && !use.done())) continue;
    const std::string key = history_key(plan.registry().pack, edge);
    const auto before = plan.history.measured.find(key);
    EdgeCost cost = before == plan.history.measured.end() ? EdgeCost{} : before->second;
    cost.seconds = seconds_per_target(edge, std::max(ended.seconds - use.waited_seconds, 0.0));
    cost.output_bytes = written_by(edge, folder, session.system.files);
    if (use.peak_bytes > 0) cost.peak_bytes = use.peak_bytes;
    if (use.look_bytes > 0) cost.look_bytes = use.look_bytes;
    session.facts.put(fact_key(key), k_unit, render_cost(cost));
  }
}

}  // namespace dsbuild
