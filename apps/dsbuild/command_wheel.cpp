#include "command.h"
#include "package/package.h"

namespace dsbuild {
namespace {

Result<int> run_wheel(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(package, make_package(named_bundle(settings, context), context.data_dir / "templates" / "wheel",
                                    context.system.files));
  DSBUILD_TRY(wheel, write_wheel(package, context.line.value("--wheel-dir", "."), context.system.files));
  DSBUILD_CHECK(print_done(settings, render_wheel_json(package, wheel.string()),
                           render_wheel(package, wheel.string())));
  return 0;
}

}  // namespace

CommandRow wheel_command() {
  return {.name = "wheel",
          .help = "Make a wheel of a bundle's Python modules, for pip",
          .run = run_wheel,
          .examples = {{"dsbuild wheel dsbuild-out",
                        "a wheel for the torch and Python that the ops were built for"}},
          .options = {{.names = "--wheel-dir", .type = "DIR", .help = "Where the wheel goes [.]"}},
          .uses = {{"", {Topic::bundle}}},
          .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
