#include "stages.h"

namespace dsbuild {

Result<int> run_plan(const CommandContext& context) {
  DSBUILD_TRY(stages, plan_stages(context));
  const Settings& settings = stages.base.settings;
  const PlanView view = stages.view(removed_ops(stages, context.system.files));
  const std::string format = settings.json.value || context.line.format.empty()
                                 ? (settings.json.value ? "json" : "table")
                                 : context.line.format;
  const Style style = style_for(settings, context, false);
  std::string text;
  if (format == "json") text = render_plan_json(view);
  if (format == "env") text = render_plan_env(view);
  if (format == "flags") text = render_plan_flags(view);
  if (format == "table") {
    text = render_plan_table(view, style);
    if (settings.verbosity > 0) text += "\n" + render_settings(setting_rows(settings));
  }
  if (format != "json") print_warnings(stages.warnings, settings, context);
  DSBUILD_CHECK(print_result(text));
  return strict_exit(stages, context);
}

}  // namespace dsbuild
