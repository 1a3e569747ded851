#include <map>

#include "arch/nvidia.h"
#include "plan/real_paths.h"
#include "report/json_parts.h"

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

// What is shown of the commands.
struct OpCommands {
  // Of whole files, whether or not they are compiled in slices, by op and source.
  std::map<std::pair<std::string, std::string>, const Edge*> compiles;
  std::map<std::string, const Edge*> links;  // by op
};

OpCommands op_commands(const PlanView& view) {
  OpCommands commands;
  for (const SlicedCommand& command : view.sliced)
    commands.compiles[{command.whole.op, command.whole.source}] = &command.whole;
  for (const Edge& edge : view.build.edges) {
    if (edge.is_compile() && !edge.is_part()) commands.compiles[{edge.op, edge.source}] = &edge;
    if (edge.kind == EdgeKind::link) commands.links[edge.op] = &edge;
  }
  return commands;
}

Json words_json(const std::vector<std::string>& words, const RealPaths& real) {
  Json list = Json::array();
  for (const std::string& word : words)
    list.push_back(real.word(word));
  return list;
}

Json source_json(const PlanView& view, const PlannedSource& source, const Edge* compile,
                 const RealPaths& real) {
  Json json = {{"path", source.source.id()},
               {"file", source.source.path},
               {"archs", arch_strings(source.archs)},
               {"compiler", nullptr},
               {"flags", nullptr}};
  if (!compile) return json;
  std::vector<std::string> flags = compile->flags;
  for (const Target& target : compile->targets)
    flags.push_back(target.flag());
  json["compiler"] = words_json(compiler_of(view.build, *compile), real);
  json["flags"] = words_json(flags, real);
  return json;
}

Json link_flags_json(const OpCommands& commands, const std::string& op, const RealPaths& real) {
  Json flags = Json::array();
  const auto link = commands.links.find(op);
  if (link == commands.links.end()) return flags;
  for (const std::string& flag : link->second->flags)
    if (!flag.starts_with("-Wl,--dependency-file=")) flags.push_back(real.word(flag));
  return flags;
}

std::string module_of(const PlanView& view, const std::string& op) {
  const OpBuilder* builder = view.registry.find(op);
  return builder ? builder->spec().module : "";
}

Json op_json(const PlanView& view, const PlannedOp& op, const OpCommands& commands, const RealPaths& real) {
  Json sources = Json::array();
  for (const PlannedSource& source : op.sources) {
    const auto compile = commands.compiles.find({op.name, source.source.id()});
    const bool is_known = compile != commands.compiles.end();
    sources.push_back(source_json(view, source, is_known ? compile->second : nullptr, real));
  }
  return {{"name", op.name},
          {"module", module_of(view, op.name)},
          {"status", word(op.status)},
          {"reason", op.reason},
          {"archs", arch_strings(op.archs)},
          {"extra", {{"archs", arch_strings(op.extra)}, {"gencode", gencodes_json(op.extra)}}},
          {"dropped", dropped_json(op)},
          {"requirements", requirements_json(view, op.name)},
          {"sources", sources},
          {"link_flags", link_flags_json(commands, op.name, real)},
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
  const OpCommands commands = op_commands(view);
  const RealPaths real(view.build.links);
  for (const PlannedOp& op : view.archs.ops)
    json["ops"].push_back(op_json(view, op, commands, real));
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
