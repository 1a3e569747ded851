// verify: a bundle against its manifest and its provenance and, where that is asked for, against a policy,
// what a build makes of that provenance, what nvcc makes and what can be loaded here.
#include "bundle/verify.h"
#include "driver/build_bundle.h"
#include "driver/compare_bundle.h"
#include "driver/rebuild.h"
#include "driver/requested_gate.h"
#include "policy/policy.h"
#include "sarif_file.h"
#include "show_events.h"
#include "sys/clock.h"
#include "sys/private_folder.h"

namespace dsbuild {
namespace {

// What is asked of the bundle; nullopt: nothing is. A policy is asked about what is as its manifest says:
// else that is what is wrong.
Result<std::optional<Verdict>> judge_bundle(const Settings& settings, const Path& bundle,
                                            const Manifest& manifest, bool is_same, System& system) {
  DSBUILD_TRY(gate, requested_gate(settings, system));
  if (!gate.asks() && !asks(settings.policy) && !settings.given.contains("--policy")) return std::nullopt;
  DSBUILD_TRY(verdict, judge(gate, gated(manifest, bundle.string())));
  if (is_same)
    DSBUILD_CHECK(
        judge_policy(settings.policy, {bundle, manifest, system.files}, utc_date(unix_seconds()), verdict));
  return verdict;
}

// Builds what the bundle's provenance says, in a folder for a while, and compares.
Result<void> rebuild(const Path& bundle, const Settings& settings, const CommandContext& context) {
  FileSystem& files = context.system.files;
  DSBUILD_TRY(statement, load_statement(bundle, files));
  DSBUILD_TRY(folder, PrivateFolder::make(temporary_parent(settings), files));
  DSBUILD_TRY(again, request_of_statement(statement, context.line.arguments, context.system, context.data_dir,
                                          folder.path()));
  System system{files, context.system.processes, again.environment, context.system.program};
  Events silent;
  Session session(again.request.settings, system, silent);
  DSBUILD_TRY(built, build_bundle(std::move(again.request), session));
  return compare_rebuilt(bundle, built.outcome.bundle.path, files);
}

// Against its manifest, then against its statement: of what differs from the first nothing else is asked.
Result<Manifest> check_contents(VerifiedBundle& verified, const FileReader& files) {
  DSBUILD_TRY(differences, verify_bundle(verified.bundle, files));
  DSBUILD_TRY(manifest, load_manifest(verified.bundle, files));
  if (differences.empty()) DSBUILD_CHECK(check_statement(verified.bundle, manifest, files));
  verified.differences = std::move(differences);
  verified.warnings = lesser_cpu_warnings(manifest, read_host(files).cpu_features);
  return manifest;
}

// What is asked of a bundle that is as its manifest says.
Result<void> check_further(VerifiedBundle& verified, const Manifest& manifest, const Request& request,
                           const CommandContext& context) {
  const Settings& settings = request.settings;
  ShownEvents events(settings, context);
  Session session(settings, context.system, events);
  if (context.line.has("--rebuild")) {
    DSBUILD_CHECK(rebuild(verified.bundle, settings, context));
    verified.rebuilt = true;
  }
  if (context.line.has("--against-nvcc")) {
    DSBUILD_TRY(comparison, compare_bundle(request, manifest, session));
    verified.compared = comparison.compared;
    verified.differences = std::move(comparison.differences);
  }
  // No library is run that is not as it was asked to be.
  if (context.line.has("--load") && (!verified.gate || verified.gate->failures.empty()))
    verified.loads =
        try_to_load(verified.bundle, manifest, {settings.python.value, context.system, session.facts});
  return {};
}

Result<VerifiedBundle> look_at(const Path& bundle, const Request& request, const CommandContext& context) {
  VerifiedBundle verified;
  verified.bundle = bundle.string();
  DSBUILD_TRY(manifest, check_contents(verified, context.system.files));
  const bool is_same = verified.differences.empty();
  DSBUILD_TRY(gate, judge_bundle(request.settings, bundle, manifest, is_same, context.system));
  if (gate) append(verified.warnings, gate->warnings);
  verified.gate = std::move(gate);
  print_warnings(verified.warnings, request.settings, context);
  if (is_same) DSBUILD_CHECK(check_further(verified, manifest, request, context));
  return verified;
}

void write_down(const VerifiedBundle& verified, SarifLog& log) {
  const Path bundle = verified.bundle;
  for (const Difference& difference : verified.differences)
    log.add(make_error(Exit::failed, "damaged_bundle", verified.bundle, difference.what,
                       "Build it again, or get it again from who built it."),
            bundle / difference.file);
  for (const Warning& warning : verified.warnings)
    log.add(warning, bundle / k_manifest_name);
  if (!verified.gate) return;
  for (const Error& failure : verified.gate->failures)
    log.add(failure, bundle / k_manifest_name);
}

Result<int> verify(const CommandContext& context, SarifLog* log) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(verified, look_at(named_bundle(settings, context), request, context));
  if (log) write_down(verified, *log);
  const Style style = style_for(settings, context, false);
  const std::string json = render_verified_json(verified), text = render_verified(verified, style);
  if (verified.ok())
    DSBUILD_CHECK(print_done(settings, json, text, style));
  else
    DSBUILD_CHECK(print_result(settings.json.value ? json : text, style));
  if (verified.gate) gate_exit(*verified.gate, settings.json.value, style_for(settings, context, true));
  return static_cast<int>(verified.ok() ? Exit::done : Exit::failed);
}

Result<int> run_verify(const CommandContext& context) {
  return run_with_sarif(context, [&](SarifLog* log) { return verify(context, log); });
}

std::vector<OptionUses> uses_of_verify() {
  const std::vector<Topic> all = {Topic::bundle, Topic::gpus, Topic::sizes, Topic::policy};
  return {{"", all},
          {"--gpu", all + std::vector{Topic::strict}},
          {"--load", all + std::vector{Topic::python}},
          {"--rebuild", all + std::vector{Topic::pack, Topic::source, Topic::cuda, Topic::other_toolkits,
                                          Topic::python, Topic::cores, Topic::offline}},
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
                    "whether it covers those GPUs and is small enough"},
                   {"dsbuild verify dsbuild-out --policy policy.yaml",
                    "whether it is what your own rules ask for: docs/reference/policy.md"},
                   {"dsbuild verify dsbuild-out --rebuild",
                    "whether its provenance makes the same bytes here"},
                   {"dsbuild verify --against-nvcc --arch 8.0", "whether it is what nvcc makes"}},
      .options =
          {{.names = "--load",
            .help = "Open each library here, each in its own process (Python modules: with --python)"},
           {.names = "--rebuild",
            .help =
                "Build the bundle again from its provenance, and compare (--pack, --source: its sources)"},
           {.names = "--against-nvcc",
            .help =
                "Also compile sliced files with nvcc itself, and compare (pass the options of the build)"},
           sarif_option("Write the differences as SARIF 2.1.0, for code scanning")},
      .uses = uses_of_verify(),
      .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
