#include "package/package.h"
#include "stages.h"

namespace dsbuild {

Result<int> run_wheel(const CommandContext& context) {
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  DSBUILD_TRY(package, make_package(named_bundle(settings, context), context.data_dir / "templates" / "wheel",
                                    context.system.files));
  DSBUILD_TRY(wheel, write_wheel(package, context.line.wheel_dir, context.system.files));
  DSBUILD_CHECK(print_result(settings.json.value ? render_wheel_json(package, wheel.string())
                                                 : render_wheel(package, wheel.string())));
  return 0;
}

}  // namespace dsbuild
