#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "report/json.h"

namespace dsbuild {
namespace {

Json dropped_json(const PlannedOp& op) {
  Json list = Json::array();
  for (const PlanDrop& drop : op.dropped)
    list.push_back({{"arch", drop.target.text()}, {"by", word(drop.by)}, {"reason", drop.reason}});
  return list;
}

Json requirements_json(const PlanView& view, const std::string& op) {
  const auto found = view.requirements.by_op.find(op);
  return findings_json(found == view.requirements.by_op.end() ? std::vector<Finding>{} : found->second);
}

// The build folder's link to the pack, as the commands there name it.
std::vector<std::string> with_source_root(std::vector<std::string> flags, const Path& source_root) {
  const std::string link = k_pack_folder;
  for (std::string& flag : flags) {
    const size_t path = flag.starts_with("-I") ? 2 : 0;
    const std::string named = flag.substr(path);
    if (named == link || named.starts_with(link + "/")) flag.replace(path, link.size(), source_root.string());
  }
  return flags;
}

// Of the command that compiles the whole file; null where it is compiled in slices.
Json source_flags_json(const PlanView& view, const std::string& op, const std::string& source) {
  for (const Edge& edge : view.build.edges) {
    if (!edge.is_compile() || edge.is_part() || edge.op != op || edge.source != source) continue;
    std::vector<std::string> flags = with_source_root(edge.flags, view.registry.source_root);
    for (const Target& target : edge.targets)
      flags.push_back(target.flag());
    return flags;
  }
  return nullptr;
}

Json link_flags_json(const PlanView& view, const std::string& op) {
  Json flags = Json::array();
  for (const Edge& edge : view.build.edges)
    if (edge.kind == EdgeKind::link && edge.op == op)
      for (const std::string& flag : edge.flags)
        if (!flag.starts_with("-Wl,--dependency-file=")) flags.push_back(flag);
  return flags;
}

std::string module_of(const PlanView& view, const std::string& op) {
  const OpBuilder* builder = view.registry.find(op);
  return builder ? builder->spec().module : "";
}

Json op_json(const PlanView& view, const PlannedOp& op) {
  Json sources = Json::array();
  for (const PlannedSource& source : op.sources)
    sources.push_back({{"path", source.source.id()},
                       {"file", source.source.path},
                       {"archs", arch_strings(source.archs)},
                       {"flags", source_flags_json(view, op.name, source.source.id())}});
  return {{"name", op.name},
          {"module", module_of(view, op.name)},
          {"status", word(op.status)},
          {"reason", op.reason},
          {"archs", arch_strings(op.archs)},
          {"extra", {{"archs", arch_strings(op.extra)}, {"gencode", gencodes_json(op.extra)}}},
          {"dropped", dropped_json(op)},
          {"requirements", requirements_json(view, op.name)},
          {"sources", sources},
          {"link_flags", link_flags_json(view, op.name)},
          {"left_out", op.left_out},
          {"features_off", op.features_off},
          {"output", op.status == OpStatus::build ? Json(op.name + ".so") : Json(nullptr)}};
}

Json forecast_json(const Forecast& forecast) {
  const bool knows_bytes = forecast.measured == forecast.edges;
  return {{"seconds", forecast.seconds},
          {"least_seconds", forecast.least_seconds},
          {"most_seconds", forecast.most_seconds},
          {"memory_bytes", forecast.memory_bytes},
          {"written_bytes", knows_bytes ? Json(forecast.written_bytes) : Json(nullptr)},
          {"edges", forecast.edges},
          {"measured", forecast.measured},
          {"from_nothing", forecast.from_nothing}};
}

}  // namespace

std::string render_plan_json(const PlanView& view, bool as_event) {
  Json json = as_event ? Json{{"event", "plan"}} : Json::object();
  json["schema"] = 1;
  json["dsbuild"] = k_version;
  json["toolkits"] = Json::array();
  for (const Toolkit* toolkit : view.toolkits)
    json["toolkits"].push_back(toolkit_json(*toolkit));
  const Toolkit* cuda = view.toolkits.of(nvidia());
  json["toolkit"] = cuda ? toolkit_json(*cuda) : Json(nullptr);
  json["requested"] = arch_strings(view.archs.requested);
  json["shared"] = {{"archs", arch_strings(view.archs.shared)},
                    {"gencode", gencodes_json(view.archs.shared)}};
  json["source_root"] = view.registry.source_root.string();
  json["ops"] = Json::array();
  for (const PlannedOp& op : view.archs.ops)
    json["ops"].push_back(op_json(view, op));
  json["removes"] = view.removes;
  json["edges"] = view.build.edges.size();
  if (view.forecast) json["forecast"] = forecast_json(*view.forecast);
  json["warnings"] = warnings_json(view.warnings);
  return json_line(json);
}

std::string render_edge_event_json(const EdgeEvent& event) {
  static const char* const k_words[] = {"edge_started", "edge_ended", "edge_finished", "edge_failed"};
  Json json = {{"event", k_words[static_cast<int>(event.kind)]},
               {"op", event.edge->op},
               {"kind", kind_row(event.edge->kind).word},
               {"source", event.edge->source},
               {"finished", event.finished},
               {"total", event.total}};
  if (!event.edge->part.empty()) json["part"] = event.edge->part;
  if (event.kind != EdgeEventKind::started) json["seconds"] = event.seconds;
  if (!event.reason.empty()) json["reason"] = event.reason;
  if (event.kind == EdgeEventKind::failed) json["output"] = event.output;
  return json_line(json);
}

}  // namespace dsbuild
