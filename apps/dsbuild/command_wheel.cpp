#include "command.h"
#include "package/package.h"

namespace dsbuild {

Result<int> run_wheel(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(package, make_package(named_bundle(settings, context), context.data_dir / "templates" / "wheel",
                                    context.system.files));
  DSBUILD_TRY(wheel, write_wheel(package, context.line.wheel_dir, context.system.files));
  DSBUILD_CHECK(print_result(settings.json.value ? render_wheel_json(package, wheel.string())
                                                 : render_wheel(package, wheel.string())));
  return 0;
}

}  // namespace dsbuild
