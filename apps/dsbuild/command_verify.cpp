#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "stages.h"

namespace dsbuild {

Result<int> run_verify(const CommandContext& context) {
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  const Path bundle = named_bundle(settings, context);
  DSBUILD_TRY(differences, verify_bundle(bundle, context.system.files));
  DSBUILD_TRY(manifest, load_manifest(bundle, context.system.files));
  const std::vector<Warning> warnings =
      lesser_cpu_warnings(manifest, read_host(context.system.files).cpu_features);
  print_warnings(warnings, settings, context);
  DSBUILD_CHECK(print_result(
      settings.json.value
          ? render_differences_json(differences, bundle.string(), warnings)
          : render_differences(differences, bundle.string(), style_for(settings, context, false))));
  return static_cast<int>(differences.empty() ? Exit::done : Exit::failed);
}

}  // namespace dsbuild
