// verify: a bundle against its manifest and, where that is asked for, against what nvcc makes and what can be
// loaded here.
#include "build/compare_bundle.h"
#include "build/requested_gate.h"
#include "bundle/verify.h"
#include "show_events.h"

namespace dsbuild {
namespace {

Result<int> run_verify(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(gate, requested_gate(settings, context.system));
  const Path bundle = named_bundle(settings, context);
  DSBUILD_TRY(differences, verify_bundle(bundle, context.system.files));
  DSBUILD_TRY(manifest, load_manifest(bundle, context.system.files));
  VerifiedBundle verified{
      .bundle = bundle.string(),
      .differences = std::move(differences),
      .compared = {},
      .loads = {},
      .gate = {},
      .warnings = lesser_cpu_warnings(manifest, read_host(context.system.files).cpu_features)};
  if (gate.asks()) {
    DSBUILD_TRY(verdict, judge(gate, gated(manifest, bundle.string())));
    append(verified.warnings, verdict.warnings);
    verified.gate = std::move(verdict);
  }
  print_warnings(verified.warnings, settings, context);
  ShownEvents events(settings, context);
  Session session(settings, context.system, events);
  const bool is_same = verified.differences.empty();
  if (is_same && context.line.has("--against-nvcc")) {
    DSBUILD_TRY(comparison, compare_bundle(request, manifest, session));
    verified.compared = comparison.compared;
    verified.differences = std::move(comparison.differences);
  }
  if (is_same && context.line.has("--load"))  // what differs is not run
    verified.loads = try_to_load(bundle, manifest, {settings.python.value, context.system, session.facts});
  const Style style = style_for(settings, context, false);
  if (verified.ok())
    DSBUILD_CHECK(
        print_done(settings, render_verified_json(verified), render_verified(verified, style), style));
  else
    DSBUILD_CHECK(print_result(
        settings.json.value ? render_verified_json(verified) : render_verified(verified, style), style));
  if (verified.gate) gate_exit(*verified.gate, settings.json.value, style_for(settings, context, true));
  return static_cast<int>(verified.ok() ? Exit::done : Exit::failed);
}

}  // namespace

namespace {

std::vector<OptionUses> uses_of_verify() {
  const std::vector<Topic> all = {Topic::bundle, Topic::gpus, Topic::sizes};
  return {{"", all},
          {"--gpu", all + std::vector{Topic::strict}},
          {"--load", all + std::vector{Topic::python}},
          {"--against-nvcc", all + topics_of_plan() + std::vector{Topic::cores, Topic::failures}}};
}

}  // namespace

CommandRow verify_command() {
  return {
      .name = "verify",
      .help = "Check a bundle against its manifest",
      .run = run_verify,
      .examples = {{"dsbuild verify dsbuild-out", "whether a bundle is what was planned"},
                   {"dsbuild verify dsbuild-out --load", "whether its libraries can be loaded in this image"},
                   {"dsbuild verify --gpu H100,10.0 --strict --max-size 200M",
                    "whether it is fit for a release"},
                   {"dsbuild verify --against-nvcc --arch 8.0", "whether it is what nvcc makes"}},
      .options =
          {{.names = "--load",
            .help = "Open each library here, in a process of its own (with --python where it takes one)"},
           {.names = "--against-nvcc",
            .help = "Compile what was built of slices by nvcc too, and compare (give the build's options)"}},
      .uses = uses_of_verify(),
      .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
