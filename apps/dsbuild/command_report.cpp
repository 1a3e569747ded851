// report: what there is, and what is missing, even with no CUDA, no GPU, no Ninja, no Python and no bundle.
#include <algorithm>

#include "build/survey.h"
#include "command.h"

namespace dsbuild {
namespace {

Result<int> run_report(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  Session session(request.settings, context.system);
  DSBUILD_TRY(survey, survey_all(std::move(request), session));
  const auto gpus = context.line.has("--gpu") ? std::optional(context.line.value("--gpu")) : std::nullopt;
  DSBUILD_TRY(report, make_report(survey, gpus, session));
  const Settings& settings = survey.settings();
  const ReportOptions options{context.line.has("--hide_operator_status"),
                              context.line.has("--hide_errors_and_warnings"), settings.verbosity > 0};
  if (!options.hide_errors_and_warnings) print_warnings(report.warnings, settings, context);
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(
      settings.json.value ? render_report_json(report) : render_report(report, options, style), style));
  const bool lacks = std::any_of(report.ops.begin(), report.ops.end(),
                                 [](const ReportRow& row) { return row.selected && !row.compatible(); });
  return settings.strict.value && lacks ? static_cast<int>(Exit::unmet) : 0;
}

}  // namespace

CommandRow report_command() {
  return {.name = "report",
          .help = "Show op by op what is installed and what this machine can build",
          .run = run_report,
          .examples = {{"dsbuild report", "what is installed, what this machine can build"},
                       {"dsbuild report --gpu 8.6,9.0", "how the bundle runs on those GPUs"},
                       {"dsbuild report --json", "the same for a script"}},
          .options = {{.names = "--gpu",
                       .type = "ARCHS",
                       .help = "How GPUs of these archs would run it: 8.6,9.0 or native or all"},
                      {.names = "--hide_operator_status", .help = "The environment alone"},
                      {.names = "--hide_errors_and_warnings", .help = "No reasons above the rows"}}};
}

}  // namespace dsbuild
