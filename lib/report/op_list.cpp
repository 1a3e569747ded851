// Which ops of a pack this machine can build, and for which archs.
#include <algorithm>

#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string archs_cell(const ListedOp& op) {
  if (op.backends == std::vector<std::string>{"cpu"}) return "CPU";
  if (!op.archs.empty()) return arch_text(op.archs);
  return op.limits.empty() ? "none" : "none (" + op.limits + ")";
}

// The first reason alone: `explain` has all, with what to do about them.
std::string reason_cell(const ListedOp& op) {
  const auto unmet = std::ranges::find(op.findings, false, &Finding::ok);
  return unmet == op.findings.end() ? op.skipped : unmet->subject + ": " + unmet->why;
}

}  // namespace

OpList list_ops(const Survey& survey) {
  const ArchPlanInput input = survey.arch_plan_input();
  const ArchPlan draft = draft_archs(input);
  OpList list{survey.selected.registry.pack, survey.requested, {}, survey.warnings};
  for (const OpBuilder& builder : survey.selected.registry.ops) {
    const OpSpec& spec = builder.spec();
    ListedOp op{compatibility_of(builder, survey, *draft.find(builder.name())), spec.description, {}, {}, {}};
    for (const BackendKind kind : spec.backends)
      op.backends.emplace_back(kind_row(kind).key);
    op.limits = spec.archs.text();
    if (vendor_of(spec)) op.archs = draft_op(input, builder).archs;
    list.ops.push_back(std::move(op));
  }
  return list;
}

std::string render_op_list(const OpList& list, const Style& style) {
  Table table{{"op", "archs", "compatible", "description, or reason"}, {}};
  for (const ListedOp& op : list.ops)
    table.rows.push_back({op.op, archs_cell(op), op.compatible() ? "yes" : "no",
                          op.compatible() ? op.description : reason_cell(op)});
  const auto lacking = std::ranges::find_if_not(list.ops, &ListedOp::compatible);
  const std::string hint =
      lacking == list.ops.end() ? "" : "what helps: dsbuild explain " + lacking->op + "\n";
  return render_table(table, style) + hint;
}

std::string render_op_list_json(const OpList& list) {
  Json json = json_document();
  json["pack"] = list.pack;
  json["requested"] = arch_strings(list.requested);
  json["ops"] = Json::array();
  for (const ListedOp& op : list.ops)
    json["ops"].push_back({{"name", op.op},
                           {"description", op.description},
                           {"backends", op.backends},
                           {"selected", op.selected},
                           {"limits", op.limits},
                           {"archs", arch_strings(op.archs)},
                           {"compatible", op.compatible()},
                           {"reasons", op.reasons()}});
  json["warnings"] = warnings_json(list.warnings);
  return json_line(json);
}

}  // namespace dsbuild
