// verify: a bundle against its manifest and, where that is asked for, against what nvcc makes.
#include "build/build_folder.h"
#include "build/due_actions.h"
#include "build/settled_run.h"
#include "bundle/verify.h"
#include "show_events.h"

namespace dsbuild {
namespace {

// Whether the build folder is that of the bundle, and up to date: else what is compared is not what is there.
Result<void> check_is_of_build(const Plan& plan, const Manifest& manifest, Session& session) {
  const Path& folder = plan.settings().build_dir.value;
  const DueActions due = find_due_actions(plan, plan.graph, session.system, session.digests);
  std::string why = due.empty() ? "" : due.begin()->first + ": " + due.begin()->second.text();
  for (const ManifestOp& op : manifest.ops) {
    const PlannedOp* planned = plan.archs.find(op.name);
    const bool is_planned = planned && planned->status == OpStatus::build;
    const auto digest = session.digests.digest(folder / library_path(op.name));
    if (why.empty() && (!is_planned || !digest || *digest != op.sha256))
      why = op.name + " is of another build";
  }
  if (why.empty()) return {};
  return fail(Exit::failed, "not_built", folder.string(),
              "the bundle is not what a build with these options has made here: " + why,
              "Give the options of the build, and its folder with --build-dir; or build again.");
}

// The number of files that are the same; failures are shown, and make it none.
Result<std::optional<size_t>> compare(const Request& request, const Manifest& manifest,
                                      const CommandContext& context) {
  ShownEvents events(request.settings, context);
  Session session(request.settings, context.system, events);
  DSBUILD_TRY(plan, make_plan(request, SelfTest::recall, session));
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(check_can_compare(settings.backend, "verify --against-nvcc"));
  DSBUILD_TRY(ninja, find_ninja(settings, context.system, session.facts));
  DSBUILD_TRY(lock, lock_if_built(request, context.system.files));
  DSBUILD_CHECK(check_is_of_build(plan, manifest, session));
  RunLog log(settings.build_dir.value, context.system.files);
  DSBUILD_TRY(comparison, run_comparison({plan, ninja, *lock, log, session}, {}));
  session.digests.save();
  session.facts.save();
  for (const EdgeFailure& failure : comparison->run.failures)
    events.on_failure(failure);
  return comparison->run.exit_code == 0 ? std::optional(comparison->compared) : std::nullopt;
}

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
    DSBUILD_TRY(files, compare(request, manifest, context));
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
