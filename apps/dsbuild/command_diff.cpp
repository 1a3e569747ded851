// diff: how two bundles, or builds, differ.
#include "command.h"
#include "driver/inventory_diff.h"

namespace dsbuild {
namespace {

// As of diff(1): what cannot be compared is no difference.
tl::unexpected<Error> cannot_compare(Error error) {
  error.exit = Exit::usage;
  return tl::unexpected<Error>(std::move(error));
}

Result<int> run_diff(const CommandContext& context) {
  const std::vector<std::string>& folders = context.line.operands;
  if (folders.size() != 2)
    return fail(Exit::usage, "bad_option", "diff",
                folders.empty() ? "no folder given" : "two folders are compared, and one was given",
                "Usage: dsbuild diff A B, each of them a bundle or a build folder.");
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  Session session(settings, context.system);
  const auto a = take_inventory(folders[0], context.system.files, session.digests);
  if (!a) return cannot_compare(a.error());
  const auto b = take_inventory(folders[1], context.system.files, session.digests);
  if (!b) return cannot_compare(b.error());
  const InventoryDiff diff = compare(*a, *b);
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(settings.json.value ? render_inventory_diff_json(diff, *a, *b)
                                                 : render_inventory_diff(diff, *a, *b, style),
                             style));
  return static_cast<int>(diff.changes.empty() ? Exit::done : Exit::failed);
}

}  // namespace

CommandRow diff_command() {
  return {.name = "diff",
          .help = "Compare two bundles or builds; exit code 1 if they differ",
          .run = run_diff,
          .examples = {{"dsbuild diff dsbuild-out /srv/ops/1.2", "ops, archs, sizes, exports, toolkit"},
                       {"dsbuild diff build-a build-b", "two build folders: flags and times too"}},
          .uses = {{"", {Topic::digests}}},
          .operands = Operands{"folders", "A B", "Folders of bundles or builds", 2}};
}

}  // namespace dsbuild
