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

Json op_json(const PlanView& view, const PlannedOp& op) {
  Json sources = Json::array();
  for (const PlannedSource& source : op.sources)
    sources.push_back({{"path", source.source.id()}, {"archs", arch_strings(source.archs)}});
  return {{"name", op.name},
          {"status", word(op.status)},
          {"reason", op.reason},
          {"archs", arch_strings(op.archs)},
          {"extra", {{"archs", arch_strings(op.extra)}, {"gencode", gencodes_json(op.extra)}}},
          {"dropped", dropped_json(op)},
          {"requirements", requirements_json(view, op.name)},
          {"sources", sources},
          {"left_out", op.left_out},
          {"features_off", op.features_off},
          {"output", op.status == OpStatus::build ? Json(op.name + ".so") : Json(nullptr)}};
}

Json forecast_json(const Forecast& forecast) {
  const bool knows_bytes = forecast.measured == forecast.edges;
  return {{"seconds", forecast.seconds},
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
  json["toolkit"] = view.toolkit ? toolkit_json(*view.toolkit) : Json(nullptr);
  json["requested"] = arch_strings(view.archs.requested);
  json["shared"] = {{"archs", arch_strings(view.archs.shared)},
                    {"gencode", gencodes_json(view.archs.shared)}};
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
  static const char* const k_words[] = {"edge_started", "edge_finished", "edge_failed"};
  static const char* const k_kinds[] = {"cuda_compile", "cuda_slice", "cxx_compile",
                                        "link",         "verify",     "comparison"};
  Json json = {{"event", k_words[static_cast<int>(event.kind)]},
               {"op", event.edge->op},
               {"kind", k_kinds[static_cast<int>(event.edge->kind)]},
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
