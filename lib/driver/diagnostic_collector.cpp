#include "driver/diagnostic_collector.h"

#include <algorithm>

#include "exec/record.h"
#include "nvcc/run_step.h"
#include "plan/edge_order.h"

namespace dsbuild {
namespace {

ArchSet archs_of(const std::vector<const Edge*>& edges) {
  ArchSet archs;
  for (const Edge* edge : edges)
    archs.insert(edge->targets.begin(), edge->targets.end());
  return archs;
}

bool has(const std::vector<const Edge*>& edges, const Edge* edge) {
  return std::find(edges.begin(), edges.end(), edge) != edges.end();
}

}  // namespace

std::string said_by_tools(const std::string& output) {
  return output.substr(0, output.rfind(k_nvcc_alone));
}

void tell_recorded(const BuildPlan& graph, const Path& build_dir, const FileReader& files,
                   DiagnosticCollector& collector) {
  std::map<std::string, std::string> all;
  for (const Edge& edge : graph.edges)
    all.emplace(edge.output, "");
  collector.on_graph_begins(graph, all);
  for (const Edge* edge : edges_by_output(graph.edges)) {
    const auto text = files.read_file(build_dir / record_file(edge->output));
    const auto record = text ? parse_record(*text) : std::nullopt;
    EdgeEvent event;
    event.kind = EdgeEventKind::finished;
    event.edge = edge;
    for (const ToolOutput& said : record ? record->tool_output : std::vector<ToolOutput>{})
      event.output += said.text;
    collector.on_edge(event);
  }
  collector.on_graph_ends();
}

void DiagnosticCollector::on_graph_begins(const BuildPlan& graph,
                                          const std::map<std::string, std::string>& due) {
  units_.clear();
  has_failed_ = false;
  for (const Edge& edge : graph.edges)
    if (due.count(edge.output) > 0) units_[key_of_unit(edge)].left.insert(edge.output);
}

void DiagnosticCollector::on_edge(const EdgeEvent& event) {
  Unit& unit = units_[key_of_unit(*event.edge)];
  if (event.kind == EdgeEventKind::started) {
    unit.running.insert(event.edge);
    return;
  }
  if (event.kind == EdgeEventKind::ended) return;
  has_failed_ = has_failed_ || event.kind == EdgeEventKind::failed;
  unit.running.erase(event.edge);
  unit.left.erase(event.edge->output);
  unit.ended.insert(event.edge);
  hear(*event.edge, event.output, unit);
  if (unit.running.empty() && (unit.left.empty() || has_failed_)) tell_all(unit);
}

void DiagnosticCollector::hear(const Edge& edge, const std::string& output, Unit& unit) {
  for (Diagnostic& told : parse_diagnostics(said_by_tools(output))) {
    Diagnostic own = paths_.diagnostic(std::move(told));
    const auto same = std::find_if(unit.said.begin(), unit.said.end(),
                                   [&](const auto& said) { return said.first.text == own.text; });
    if (same == unit.said.end())
      unit.said.emplace_back(std::move(own), std::vector{&edge});
    else if (!has(same->second, &edge))
      same->second.push_back(&edge);
  }
}

void DiagnosticCollector::tell_all(Unit& unit) {
  for (auto& [diagnostic, edges] : std::exchange(unit.said, {})) {
    if (!told_.insert(diagnostic.text).second) continue;
    const bool by_archs =
        std::all_of(edges.begin(), edges.end(), [](const Edge* edge) { return edge->is_slice(); });
    const bool others_differ = std::any_of(
        unit.ended.begin(), unit.ended.end(),
        [said_by = std::cref(edges)](const Edge* edge) { return edge->is_slice() && !has(said_by, edge); });
    tell_({std::move(diagnostic), edges.front(), by_archs && others_differ ? archs_of(edges) : ArchSet{}});
  }
}

void DiagnosticCollector::on_graph_ends() {
  for (auto& [key, unit] : units_)
    tell_all(unit);
}

}  // namespace dsbuild
