#include <algorithm>

#include "ninja/progress.h"
#include "report/report.h"
#include "report/table.h"

namespace dsbuild {
namespace {

std::string dropped_text(const PlannedOp& op) {
  std::vector<std::string> parts;
  for (const PlanDrop& drop : op.dropped)
    parts.push_back(drop.target.text() + " (" + word(drop.by) + ": " + drop.reason + ")");
  return join(parts, ", ");
}

std::string archs_cell(const PlannedOp& op, const Registry& registry) {
  if (!vendor_of(registry.find(op.name)->spec())) return "CPU";
  std::string text = op.archs.empty() ? "host code" : arch_text(op.archs);
  for (const auto& [built, asked] : op.specialised)
    if (op.archs.count(built) > 0 && !built.is_virtual())
      text += " (" + built.text() + " specialises " + asked.text() + ")";
  return text;
}

std::string skip_line(const PlanView& view, const PlannedOp& op) {
  std::string text = "skipped  " + op.name + ": " + op.reason + "  (" +
                     view.registry.find(op.name)->spec().build_var + "=0 silences this)";
  for (const std::string& fix : view.requirements.fixes(op.name))
    text += "\n  fix: " + fix;
  return text;
}

// Python and torch, where an op to be built is an extension of them, with what there is to say of torch's
// CUDA.
void add_python_row(const PlanView& view, std::vector<TableRow>& rows) {
  for (const PlannedOp& op : view.archs.ops) {
    if (op.status != OpStatus::build) continue;
    for (const Finding& finding : view.requirements.by_op.at(op.name)) {
      if (!finding.usage.python_module) continue;
      const Python& python = view.requirements.torch->python;
      rows.push_back({"python", python.version + " in " + python.executable.string() + ", " + finding.why});
      return;
    }
  }
}

void add_cpu_row(const PlanView& view, std::vector<TableRow>& rows) {
  const auto uses_it = [](const PlannedOp& op) { return op.status == OpStatus::build && op.uses_cpu_level; };
  if (std::any_of(view.archs.ops.begin(), view.archs.ops.end(), uses_it))
    rows.push_back(
        {"cpu", view.requirements.cpu_level.name + "  (" + view.settings.cpu_baseline.origin + ")"});
}

std::string header(const PlanView& view, const Style& style) {
  std::vector<TableRow> rows;
  for (const Toolkit* toolkit : view.toolkits) {
    const std::string host =
        toolkit->host ? ", " + toolkit->host->family + " " + toolkit->host->version.text() : "";
    rows.push_back(
        {"toolkit", toolkit->name() + " in " + toolkit->home.string() + " (" + toolkit->origin + ")" + host});
  }
  if (!view.toolkits.empty()) {
    rows.push_back({"request", arch_text(view.archs.requested) + "  (" + view.settings.arch.origin + ")"});
    rows.push_back({"shared", arch_text(view.archs.shared)});
  } else {
    rows.push_back({"toolkit", "none: CPU ops only"});
  }
  add_python_row(view, rows);
  add_cpu_row(view, rows);
  return render_table({{}, rows}, style) + "\n";
}

std::string sureness_text(const Forecast& forecast) {
  const std::string edges = plural(forecast.edges, "edge");
  if (forecast.measured == 0) return "guessed for " + edges + ", which never ran on this machine";
  if (forecast.measured == forecast.edges) return "measured for all of " + edges;
  return "measured for " + std::to_string(forecast.measured) + " of " + edges + ", the rest guessed";
}

std::string time_text(const Forecast& forecast) {
  if (forecast.measured == forecast.edges) return seconds_text(forecast.seconds);
  return "about " + seconds_text(forecast.least_seconds) + " to " + seconds_text(forecast.most_seconds) +
         ", a guess";
}

std::string forecast_line(const Forecast& forecast) {
  if (forecast.edges == 0) return "forecast  nothing to do\n";
  std::string text =
      "forecast  " + time_text(forecast) + ", at most " + human_size(forecast.memory_bytes) + " of memory";
  if (forecast.written_bytes > 0) text += ", " + human_size(forecast.written_bytes) + " written";
  return text + (forecast.from_nothing ? ", from nothing" : "") + "; " + sureness_text(forecast) + "\n";
}

}  // namespace

PlanView view_of(const Plan& plan, std::vector<std::string> removes) {
  return {plan.settings(),    plan.archs,
          plan.graph,         plan.sliced_commands,
          plan.registry(),    plan.survey.requirements,
          plan.toolkits(),    &plan.cxx(),
          std::move(removes), {},
          plan.warnings};
}

std::string render_plan_table(const PlanView& view, const Style& style) {
  Table table{{"op", "archs", "extra", "dropped"}, {}};
  std::vector<std::string> added, skipped, off, less;
  for (const PlannedOp& op : view.archs.ops) {
    if (op.status == OpStatus::build) {
      table.rows.push_back({op.name, archs_cell(op, view.registry),
                            op.extra.empty() ? "" : arch_text(op.extra), dropped_text(op)});
      if (!op.reason.empty()) added.push_back("added  " + op.name + ": " + op.reason + "\n");
    }
    if (op.status == OpStatus::skip) skipped.push_back(skip_line(view, op));
    if (op.status == OpStatus::off) off.push_back(op.name);
    for (const std::string& source : op.left_out)
      less.push_back("left out  " + op.name + ": " + source);
    for (const std::string& feature : op.features_off)
      less.push_back("without  " + op.name + ": " + feature);
  }
  std::string text = header(view, style) + render_table(table, style) + join(added, "");
  for (const std::string& line : less)
    text += line + "\n";
  for (const std::string& line : skipped)
    text += style.warn(line) + "\n";
  if (!off.empty()) text += "off  " + join(off, ", ") + "\n";
  if (!view.removes.empty())
    text += "removes  " + join(view.removes, ", ") + " from " + view.settings.out.value.string() + "\n";
  if (view.forecast) text += forecast_line(*view.forecast);
  return text;
}

std::string render_plan_env(const PlanView& view) {
  ArchSet built;
  for (const PlannedOp& op : view.archs.ops)
    built = union_of(built, op.archs);
  return "export TORCH_CUDA_ARCH_LIST=" + shell_quote(arch_list(built)) + "\n";
}

std::string render_plan_flags(const PlanView& view) {
  std::string text;
  for (const PlannedOp& op : view.archs.ops) {
    if (op.archs.empty()) continue;
    text += op.name;
    for (const Target& target : op.archs)
      text += " " + target.flag();
    text += "\n";
  }
  return text;
}

std::string render_settings(const std::vector<SettingRow>& rows, const Style& style) {
  Table table{{"setting", "value", "from"}, {}};
  for (const SettingRow& row : rows)
    table.rows.push_back({row.name, row.value, row.origin});
  return render_table(table, style);
}

}  // namespace dsbuild
