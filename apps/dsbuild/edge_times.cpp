#include "edge_times.h"

#include <cmath>

#include "plan/backend.h"

namespace dsbuild {
namespace {

constexpr const char* k_unit = "milliseconds per target";

std::string fact_key(const std::string& time_key) {
  return "time " + time_key;
}

std::optional<double> seconds_in(const std::string& milliseconds) {
  const auto number = whole_number<long>(milliseconds);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<double>(*number) / 1000;
}

}  // namespace

EdgeTimes recall_edge_times(const Stages& stages, std::set<std::string> torch_sources,
                            const FileReader& files) {
  EdgeTimes times;
  times.torch_sources = std::move(torch_sources);
  const Registry& registry = stages.selected.registry;
  for (const PlannedOp& op : stages.archs.ops) {
    for (const PlannedSource& source : op.sources) {
      const std::string key = time_key(registry.pack, op.name, source.source.id());
      const auto past = stages.base.user_facts->find(fact_key(key), k_unit);
      if (const auto seconds = past ? seconds_in(*past) : std::nullopt) {
        times.seconds[key] = *seconds;
      } else if (source.source.seconds > 0) {
        times.seconds[key] = source.source.seconds;
      } else if (const auto identity = files.identity(registry.source_root / source.source.path)) {
        times.source_bytes[source_path(source.source.path)] = identity->size;
      }
    }
  }
  return times;
}

void remember_edge_times(const Stages& stages, const std::vector<FinishedEdge>& finished) {
  for (const FinishedEdge& ended : finished) {
    // One with a twin may have compiled nothing.
    if (ended.failed || ended.edge->source.empty() || !ended.edge->twin.empty()) continue;
    const std::string key = time_key(stages.selected.registry.pack, ended.edge->op, ended.edge->source);
    const double milliseconds = seconds_per_target(*ended.edge, ended.seconds) * 1000;
    stages.base.user_facts->put(fact_key(key), k_unit, std::to_string(std::lround(milliseconds)));
  }
}

}  // namespace dsbuild
