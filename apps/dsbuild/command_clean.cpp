#include "build_folder.h"
#include "publish.h"
#include "stages.h"

namespace dsbuild {
namespace {

Result<void> remove_published(const Settings& settings, const CommandContext& context) {
  const Path& out = settings.out.value;
  if (context.system.files.kind(out) == FileKind::absent) return {};
  DSBUILD_TRY(held, lock_published(out, settings, context));
  if (context.system.files.kind(out) == FileKind::absent) return {};
  DSBUILD_CHECK(remove_bundle(out, context.system.files));
  print_message("removed " + out.string() + "\n");
  return {};
}

}  // namespace

Result<int> run_clean(const CommandContext& context) {
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  DSBUILD_TRY(removed, remove_build_folder(settings, context));
  if (removed) print_message("removed " + settings.build_dir.value.string() + "\n");
  if (context.line.with_bundle) DSBUILD_CHECK(remove_published(settings, context));
  return 0;
}

}  // namespace dsbuild
