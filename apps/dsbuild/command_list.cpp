// list: the ops of a pack, the archs that each keeps of the request, and whether this machine can build it.
#include "command.h"
#include "driver/survey.h"

namespace dsbuild {
namespace {

Result<int> run_list(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  Session session(request.settings, context.system);
  DSBUILD_TRY(survey, survey_all(std::move(request), session));
  session.facts.save();
  const Settings& settings = survey.settings();
  const OpList list = list_ops(survey);
  print_warnings(list.warnings, settings, context);
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(
      print_result(settings.json.value ? render_op_list_json(list) : render_op_list(list, style), style));
  return 0;
}

}  // namespace

CommandRow list_command() {
  return {.name = "list",
          .help = "List the ops of a pack: archs, and whether they can be built here",
          .run = run_list,
          .examples = {{"dsbuild list", "the ops of the pack, the archs of each"},
                       {"dsbuild list --pack ./mypack --arch 8.0,9.0", "those of a pack of your own"},
                       {"dsbuild list --json", "the same for a script"}},
          .uses = {{"", topics_of_plan() - std::vector{Topic::disjoint_archs, Topic::compile} +
                            std::vector{Topic::bundle}}}};
}

}  // namespace dsbuild
