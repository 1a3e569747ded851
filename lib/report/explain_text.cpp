#include "report/explain.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string status_text(const Explanation& explanation) {
  const PlannedOp& op = explanation.planned;
  if (op.status == OpStatus::off) return "off: " + explanation.selected;
  if (op.status == OpStatus::skip) return "skipped: " + op.reason;
  const std::string built = explanation.obstacles.empty() ? "built for " : "would be built for ";
  return built + (explanation.has_device_code ? arch_text(op.archs) : "the CPU");
}

std::string head_text(const Explanation& explanation, const Style& style) {
  const OpStatus status = explanation.planned.status;
  const std::string what = status_text(explanation);
  std::vector<TableRow> rows = {{"spec", explanation.spec.string()}};
  if (status != OpStatus::off) rows.push_back({"selected", explanation.selected});
  rows.push_back({"status", status == OpStatus::build  ? style.good(what)
                            : status == OpStatus::skip ? style.bad(what)
                                                       : style.warn(what)});
  if (!explanation.switch_on.empty()) rows.push_back({"select", explanation.switch_on});
  for (const std::string& source : explanation.planned.left_out)
    rows.push_back({"left out", source});
  for (const std::string& feature : explanation.planned.features_off)
    rows.push_back({"without", feature});
  return style.bold(explanation.op) + (explanation.description.empty() ? "" : "  ") +
         explanation.description + "\n" + render_table({{}, rows}, style);
}

std::string findings_text(const Explanation& explanation, const Style& style) {
  std::string text;
  for (const Finding& finding : explanation.findings) {
    text += "  " + (finding.ok ? style.good("ok      ") : style.bad("not met ")) + finding.subject + ": " +
            finding.why + "\n";
    if (!finding.ok && !finding.fix.empty()) text += "    fix: " + finding.fix + "\n";
  }
  return text.empty() ? "" : "\nrequirements\n" + text;
}

std::string target_text(const ExplainedTarget& explained, const Style& style) {
  std::vector<TableRow> rows;
  for (const ExplainedStep& step : explained.steps)
    rows.push_back({"  " + step.stage, step.passed ? step.rule : style.warn(step.rule)});
  return "\n" + style.bold(explained.target.text()) + "  " + explained.target.name() + "\n" +
         render_table({{}, rows}, style);
}

std::string edges_text(const Explanation& explanation, const Style& style) {
  std::vector<TableRow> rows;
  for (const ExplainedEdge& edge : explanation.edges)
    if (!edge.reason.empty()) rows.push_back({"  " + edge.title, edge.reason});
  std::string text = "\nedges that would run: ";
  if (explanation.planned.status != OpStatus::build) return text + "none, the op is not built\n";
  if (!explanation.obstacles.empty()) return text + "none, no build can start\n";
  if (explanation.edges_error) return text + explanation.edges_error->what + "\n";
  text += std::to_string(rows.size()) + " of " + std::to_string(explanation.edges.size()) + "\n";
  return text + render_table({{}, rows}, style);
}

std::string misses_text(const Explanation& explanation, const Style& style) {
  std::vector<TableRow> rows;
  for (const ExplainedEdge& edge : explanation.edges)
    if (!edge.remote_miss.empty()) rows.push_back({"  " + edge.title, edge.remote_miss});
  if (rows.empty()) return "";
  return "\nnot in the shared cache, when they were built: " + std::to_string(rows.size()) + "\n" +
         render_table({{}, rows}, style);
}

Json targets_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const ExplainedTarget& explained : explanation.targets) {
    Json steps = Json::array();
    for (const ExplainedStep& step : explained.steps)
      steps.push_back({{"stage", step.stage}, {"passed", step.passed}, {"rule", step.rule}});
    list.push_back(
        {{"arch", explained.target.text()}, {"target", explained.target.name()}, {"steps", steps}});
  }
  return list;
}

Json edges_json(const Explanation& explanation) {
  Json list = Json::array();
  for (const ExplainedEdge& edge : explanation.edges)
    list.push_back({{"edge", edge.title},
                    {"runs", !edge.reason.empty()},
                    {"reason", edge.reason},
                    {"remote_miss", edge.remote_miss}});
  return list;
}

std::string render_explanation(const Explanation& explanation, const Style& style) {
  std::string text = head_text(explanation, style) + findings_text(explanation, style);
  if (!explanation.obstacles.empty()) text += "\nno build can start:\n";
  for (const Error& obstacle : explanation.obstacles)
    text += render_error(obstacle, style);
  for (const ExplainedTarget& target : explanation.targets)
    text += target_text(target, style);
  return text + edges_text(explanation, style) + misses_text(explanation, style);
}

void add_explanation(const Explanation& explanation, Json& json) {
  const PlannedOp& op = explanation.planned;
  json["op"] = explanation.op;
  json["spec"] = explanation.spec.string();
  json["status"] = word(op.status);
  json["reason"] = op.reason;
  json["selected"] = explanation.selected;
  json["archs"] = arch_strings(op.archs);
  json["left_out"] = op.left_out;
  json["features_off"] = op.features_off;
  json["requirements"] = findings_json(explanation.findings);
  json["obstacles"] = Json::array();
  for (const Error& obstacle : explanation.obstacles)
    json["obstacles"].push_back(message_json(obstacle));
  json["targets"] = targets_json(explanation);
  json["edges"] = edges_json(explanation);
  json["edges_error"] = explanation.edges_error ? message_json(*explanation.edges_error) : Json(nullptr);
  json["warnings"] = warnings_json(explanation.warnings);
}

}  // namespace

std::string render_explanations(const std::vector<Explanation>& explanations, const Style& style) {
  std::vector<std::string> texts;
  for (const Explanation& explanation : explanations)
    texts.push_back(render_explanation(explanation, style));
  return join(texts, "\n");
}

std::string render_explanations_json(const std::vector<Explanation>& explanations) {
  Json json = json_document();
  if (explanations.size() == 1) {
    add_explanation(explanations.front(), json);
    return json_line(json);
  }
  json["op"] = explanations.front().asked_as;
  json["backends"] = Json::array();
  for (const Explanation& explanation : explanations) {
    Json one;
    add_explanation(explanation, one);
    json["backends"].push_back(std::move(one));
  }
  return json_line(json);
}

}  // namespace dsbuild
