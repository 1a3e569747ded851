#include "build/build_folder.h"
#include "build/publish.h"
#include "show_events.h"

namespace dsbuild {
namespace {

Result<void> remove_published(const Request& request, FileSystem& files, Events& events) {
  const Path& out = request.settings.out.value;
  if (files.kind(out) == FileKind::absent) return {};
  DSBUILD_TRY(held, lock_published(out, request, files, events));
  if (files.kind(out) == FileKind::absent) return {};
  DSBUILD_CHECK(remove_bundle(out, files));
  print_message("removed " + out.string() + "\n");
  return {};
}

}  // namespace

Result<int> run_clean(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  ShownEvents events(settings, context);
  DSBUILD_TRY(removed, remove_build_folder(request, files, events));
  if (removed) print_message("removed " + settings.build_dir.value.string() + "\n");
  if (context.line.with_bundle) DSBUILD_CHECK(remove_published(request, files, events));
  return 0;
}

}  // namespace dsbuild
