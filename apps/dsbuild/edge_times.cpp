#include "edge_times.h"

#include <cmath>

#include "plan/backend.h"
#include "slices/run_step.h"

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

std::optional<std::string> milliseconds_of_compile(const FinishedEdge& ended) {
  if (!ended.edge->twin.empty()) return std::nullopt;  // it may have compiled nothing
  return std::to_string(std::lround(seconds_per_target(*ended.edge, ended.seconds) * 1000));
}

// As the part itself says it: one that found everything as it was took next to no time.
std::optional<std::string> milliseconds_of_part(const Path& output, const FileReader& files) {
  const auto text = files.read_file(key_file_of(output.string()));
  const std::vector<std::string> lines = split_lines(text ? *text : "");
  return lines.size() < 2 || lines[1].empty() ? std::nullopt : std::optional(lines[1]);
}

// Of the whole file, and of its parts.
std::set<std::string> parts_of(const PlannedSource& source) {
  std::set<std::string> parts = {"", "front", "host", "fatbin"};
  for (const Target& target : source.archs)
    parts.insert(target.virtual_name());
  return parts;
}

}  // namespace

EdgeTimes recall_edge_times(const Stages& stages, std::set<std::string> torch_sources,
                            const FileReader& files) {
  EdgeTimes times;
  times.torch_sources = std::move(torch_sources);
  const Registry& registry = stages.selected.registry;
  const FactStore& facts = *stages.base.user_facts;
  for (const PlannedOp& op : stages.archs.ops) {
    for (const PlannedSource& source : op.sources) {
      for (const std::string& part : parts_of(source)) {
        const std::string key = time_key(registry.pack, op.name, source.source.id(), part);
        const auto past = facts.find(fact_key(key), k_unit);
        if (const auto seconds = past ? seconds_in(*past) : std::nullopt) times.seconds[key] = *seconds;
      }
      const std::string whole = time_key(registry.pack, op.name, source.source.id());
      if (times.seconds.count(whole) > 0) continue;
      if (source.source.seconds > 0) {
        times.seconds[whole] = source.source.seconds;
      } else if (const auto identity = files.identity(registry.source_root / source.source.path)) {
        times.source_bytes[source_path(source.source.path)] = identity->size;
      }
    }
  }
  return times;
}

void remember_edge_times(const Stages& stages, const std::vector<FinishedEdge>& finished,
                         const FileReader& files) {
  for (const FinishedEdge& ended : finished) {
    const Edge& edge = *ended.edge;
    if (ended.failed || edge.source.empty()) continue;
    const auto milliseconds =
        edge.part.empty() ? milliseconds_of_compile(ended)
                          : milliseconds_of_part(stages.base.settings.build_dir.value / edge.output, files);
    const std::string key = time_key(stages.selected.registry.pack, edge.op, edge.source, edge.part);
    if (milliseconds) stages.base.user_facts->put(fact_key(key), k_unit, *milliseconds);
  }
}

}  // namespace dsbuild
