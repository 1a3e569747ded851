// verify: a bundle against its manifest and, where that is asked for, against what nvcc makes.
#include "build/compare_bundle.h"
#include "bundle/verify.h"
#include "show_events.h"

namespace dsbuild {
namespace {

Result<int> run_verify(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  const Path bundle = named_bundle(settings, context);
  DSBUILD_TRY(differences, verify_bundle(bundle, context.system.files));
  DSBUILD_TRY(manifest, load_manifest(bundle, context.system.files));
  const std::vector<Warning> warnings =
      lesser_cpu_warnings(manifest, read_host(context.system.files).cpu_features);
  print_warnings(warnings, settings, context);
  std::optional<size_t> compared;
  const bool is_compared = context.line.has("--against-nvcc") && differences.empty();
  if (is_compared) {
    ShownEvents events(settings, context);
    Session session(settings, context.system, events);
    DSBUILD_TRY(files, compare_bundle(request, manifest, session));
    compared = files;
  }
  DSBUILD_CHECK(print_result(
      settings.json.value
          ? render_differences_json(differences, bundle.string(), compared, warnings)
          : render_differences(differences, bundle.string(), compared, style_for(settings, context, false))));
  const bool is_same = differences.empty() && (!is_compared || compared);
  return static_cast<int>(is_same ? Exit::done : Exit::failed);
}

}  // namespace

CommandRow verify_command() {
  return {
      .name = "verify",
      .help = "Check a bundle against its manifest",
      .run = run_verify,
      .examples = {{"dsbuild verify dsbuild-out", "whether a bundle is what was planned"},
                   {"dsbuild verify --against-nvcc --arch 8.0", "whether it is what nvcc makes"}},
      .options =
          {{.names = "--against-nvcc",
            .help = "Compile what was built of slices by nvcc too, and compare (give the build's options)"}},
      .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1}};
}

}  // namespace dsbuild
