#include "driver/clean.h"

#include "show_events.h"

namespace dsbuild {
namespace {

Result<int> run_clean(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  ShownEvents events(request.settings, context);
  DSBUILD_TRY(removed, clean(request, context.line.has("--bundle"), context.system.files, events));
  if (request.settings.json.value) DSBUILD_CHECK(print_result(render_removed_folders_json(removed)));
  return 0;
}

}  // namespace

CommandRow clean_command() {
  return {.name = "clean",
          .help = "Remove the build folder; the local cache stays",
          .run = run_clean,
          .examples = {{"dsbuild clean --bundle", "remove the build folder and the bundle"}},
          .options = {{.names = "--bundle", .help = "Remove the bundle too"}},
          .uses = {{"", {Topic::build_folder, Topic::lock}},
                   {"--bundle", {Topic::build_folder, Topic::lock, Topic::bundle}}}};
}

}  // namespace dsbuild
