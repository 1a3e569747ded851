#include "stages.h"

namespace dsbuild {

Result<int> run_verify(const CommandContext& context) {
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  const Path bundle = named_bundle(settings, context);
  DSBUILD_TRY(differences, verify_bundle(bundle, context.system.files));
  DSBUILD_CHECK(print_result(settings.json.value ? render_differences_json(differences, bundle.string())
                                                 : render_differences(differences, bundle.string(),
                                                                      style_for(settings, context, false))));
  return static_cast<int>(differences.empty() ? Exit::done : Exit::failed);
}

}  // namespace dsbuild
