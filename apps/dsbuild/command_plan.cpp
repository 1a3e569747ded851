#include "due_actions.h"
#include "ninja/plain_ninja.h"
#include "stages.h"

namespace dsbuild {
namespace {

// Of what is due; where that cannot be told (nothing was built yet, another dsbuild builds), of everything.
Forecast forecast_of(const Stages& stages, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  const Result<PendingEdges> pending = find_pending_edges(stages, context);
  std::set<std::string> outputs;
  for (const Edge& edge : stages.build.edges)
    if (!pending || pending->count(edge.output) > 0) outputs.insert(edge.output);
  Forecast forecast =
      forecast_build({stages.build, stages.history, stages.selected.registry.pack,
                      jobs_for(settings, stages.base.host), memory_for(settings, stages.base.host)},
                     outputs);
  forecast.from_nothing = !pending;
  return forecast;
}

}  // namespace

Result<int> run_plan(const CommandContext& context) {
  DSBUILD_TRY(stages, plan_stages(SelfTest::recall, context));
  const Settings& settings = stages.base.settings;
  PlanView view = stages.view(removed_ops(stages, context.system.files));
  const std::string format = settings.json.value || context.line.format.empty()
                                 ? (settings.json.value ? "json" : "table")
                                 : context.line.format;
  const Style style = style_for(settings, context, false);
  if (format == "json" || format == "table") view.forecast = forecast_of(stages, context);
  std::string text;
  if (format == "json") text = render_plan_json(view);
  if (format == "env") text = render_plan_env(view);
  if (format == "flags") text = render_plan_flags(view);
  if (format == "ninja") {
    DSBUILD_TRY(graph, render_plain_ninja(stages.build, stages.sliced_commands));
    text = std::move(graph);
  }
  if (format == "table") {
    text = render_plan_table(view, style);
    if (settings.verbosity > 0) text += "\n" + render_settings(setting_rows(settings));
  }
  if (format != "json") print_warnings(stages.warnings, settings, context);
  DSBUILD_CHECK(print_result(text));
  return strict_exit(stages, context);
}

}  // namespace dsbuild
