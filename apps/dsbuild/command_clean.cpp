#include "build_folder.h"
#include "stages.h"

namespace dsbuild {
namespace {

Result<void> remove_bundle(const Path& out, const CommandContext& context) {
  if (context.system.files.kind(out) == FileKind::absent) return {};
  DSBUILD_CHECK(check_out_folder(out, context.system.files));
  DSBUILD_CHECK(context.system.files.remove_all(out));
  print_message("removed " + out.string() + "\n");
  return {};
}

}  // namespace

Result<int> run_clean(const CommandContext& context) {
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  DSBUILD_TRY(removed, remove_build_folder(settings, context));
  if (removed) print_message("removed " + settings.build_dir.value.string() + "\n");
  if (context.line.with_bundle) DSBUILD_CHECK(remove_bundle(settings.out.value, context));
  return 0;
}

}  // namespace dsbuild
