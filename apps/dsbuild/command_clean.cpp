#include "build/build_folder.h"
#include "build/publish.h"
#include "show_events.h"

namespace dsbuild {
namespace {

// Whether there was one.
Result<bool> remove_published(const Request& request, FileSystem& files, Events& events) {
  const Path& out = request.settings.out.value;
  if (files.kind(out) == FileKind::absent) return false;
  DSBUILD_TRY(held, lock_published(out, request, files, events));
  if (files.kind(out) == FileKind::absent) return false;
  DSBUILD_CHECK(remove_bundle(out, files));
  return true;
}

// A bundle is removed only where that is asked for.
Result<void> check_bundles_inside(const Path& folder, const CommandContext& context) {
  const std::vector<Path> bundles = bundles_in_build_folder(folder, context.system.files);
  if (bundles.empty() || context.line.has("--bundle")) return {};
  return fail(Exit::usage, "bundle_in_build_dir", bundles.front().string(),
              "the build folder holds a bundle, which would be removed with it",
              "Move the bundle elsewhere, or remove both with --bundle.");
}

Result<int> run_clean(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  ShownEvents events(settings, context);
  std::vector<std::string> removed;
  const auto note = [&](bool is_removed, const Path& folder) {
    if (!is_removed) return;
    removed.push_back(folder.string());
    if (!settings.json.value) print_message("removed " + folder.string() + "\n");
  };
  DSBUILD_CHECK(check_bundles_inside(settings.build_dir.value, context));
  DSBUILD_TRY(had_folder, remove_build_folder(request, files, events));
  note(had_folder, settings.build_dir.value);
  if (context.line.has("--bundle")) {
    DSBUILD_TRY(had_bundle, remove_published(request, files, events));
    note(had_bundle, settings.out.value);
  }
  if (settings.json.value) DSBUILD_CHECK(print_result(render_removed_folders_json(removed)));
  return 0;
}

}  // namespace

CommandRow clean_command() {
  return {.name = "clean",
          .help = "Remove the build folder; what `cache` shows stays",
          .run = run_clean,
          .examples = {{"dsbuild clean --bundle", "remove the build folder and the bundle"}},
          .options = {{.names = "--bundle", .help = "Remove the bundle too"}}};
}

}  // namespace dsbuild
