// report: what there is, and what is missing, even with no CUDA, no GPU, no Ninja, no Python and no bundle.
#include <algorithm>

#include "command.h"
#include "driver/survey.h"

namespace dsbuild {
namespace {

Result<int> run_report(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  Session session(request.settings, context.system);
  DSBUILD_TRY(gate, requested_gate(request.settings, session.system));
  DSBUILD_TRY(survey, survey_all(std::move(request), session));
  DSBUILD_TRY(report, make_report(survey, gate, session));
  const Settings& settings = survey.settings();
  const ReportOptions options{context.line.has("--hide_operator_status"),
                              context.line.has("--hide_errors_and_warnings"), settings.verbosity > 0};
  if (!options.hide_errors_and_warnings) print_warnings(report.warnings, settings, context);
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(
      settings.json.value ? render_report_json(report) : render_report(report, options, style), style));
  const int failed =
      report.gate ? gate_exit(*report.gate, settings.json.value, style_for(settings, context, true)) : 0;
  if (failed != 0) return failed;
  const bool lacks = std::any_of(report.ops.begin(), report.ops.end(),
                                 [](const ReportRow& row) { return row.selected && !row.compatible(); });
  return settings.strict.value && lacks ? static_cast<int>(Exit::unmet) : 0;
}

}  // namespace

CommandRow report_command() {
  return {
      .name = "report",
      .help = "Show op by op what is installed and what this machine can build",
      .run = run_report,
      .examples = {{"dsbuild report", "the installed ops, and those that this machine can build"},
                   {"dsbuild report --gpu H100,8.6", "how the bundle runs on those GPUs"},
                   {"dsbuild report --json", "the same for a script"}},
      .options = {{.names = "--hide_operator_status", .help = "Show only the environment"},
                  {.names = "--hide_errors_and_warnings", .help = "Leave out the reasons above the rows"}},
      .uses = {{"", topics_of_plan() - std::vector{Topic::disjoint_archs, Topic::compile} +
                        std::vector{Topic::bundle, Topic::strict, Topic::gpus, Topic::sizes}}}};
}

}  // namespace dsbuild
