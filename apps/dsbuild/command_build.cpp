// build: plan, show it, run the graph, publish the bundle, say what came of it.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>

#include "build_folder.h"
#include "cache/content_store.h"
#include "publish.h"
#include "settled_run.h"
#include "unchanged.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// For people; none where they want to be told little.
std::string plan_text(const Stages& stages, const PlanView& view, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  if (settings.json.value || settings.verbosity < 0) return "";
  return render_plan_table(view, style_for(settings, context, true)) + "\n" +
         warnings_text(stages.warnings, settings, context);
}

// A store that cannot be one would be passed over in silence by every step.
Result<void> check_store(const Settings& settings, FileSystem& files) {
  if (settings.backend.value == CudaBackend::nvcc || settings.store_size.value == 0) return {};
  return ContentStore(files, settings.store.value).check();
}

// By a signal that was meant for us, which Ninja too was told of. Ninja >= 1.13 also ends with the code of an
// edge, which may be that of a killed compiler.
bool was_interrupted(const GraphRun& run) {
  const int signal = run.exit_code - 128;
  const bool by_signal = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  return by_signal && (run.failures.empty() || run.stopped == "interrupted by user.");
}

// Not when it was killed: then not even --keep-going may publish what there is.
bool ended_by_itself(const GraphRun& run) {
  return run.exit_code == 0 || !run.stopped.empty();
}

std::string how_ninja_ended(int exit_code) {
  if (exit_code > 128) return "Ninja was killed by signal " + std::to_string(exit_code - 128);
  return "Ninja stopped with exit code " + std::to_string(exit_code);
}

// A failure of Ninja itself, not of an edge: a log it cannot read, a file that is missing, no memory.
Error ninja_trouble(const GraphRun& run, const Settings& settings) {
  return make_error(Exit::failed, "ninja_failed", settings.build_dir.value.string(),
                    how_ninja_ended(run.exit_code) + (run.trouble.empty() ? "" : ": " + run.trouble),
                    "`dsbuild clean` and build again; if it stays, run ninja -C " +
                        settings.build_dir.value.string() + " -v.");
}

Result<void> print_outcome(const BuildOutcome& outcome, const Settings& settings,
                           const CommandContext& context) {
  if (settings.json.value) return print_result(render_build_outcome_json(outcome));
  return print_result(render_build_outcome(outcome, style_for(settings, context, false)));
}

void show_failures(const std::vector<EdgeFailure>& failures, const Settings& settings,
                   const CommandContext& context) {
  for (const EdgeFailure& failure : failures)
    print_message(render_edge_failure(failure, style_for(settings, context, true)));
}

// What links and verifies reads objects alone. Where nothing else was to be done, they are of an earlier
// build, and may have been damaged since, as by a machine that lost its power.
bool may_be_of_damaged_objects(const GraphRun& run) {
  return static_cast<size_t>(run.edges_run) <= run.failures.size() &&
         std::all_of(run.failures.begin(), run.failures.end(), [](const EdgeFailure& failure) {
           return failure.edge->kind == EdgeKind::link || failure.edge->kind == EdgeKind::verify;
         });
}

// Without --keep-going a failure publishes nothing: the old bundle stays.
Result<int> publish_nothing(const GraphRun& run, size_t planned_ops, const Settings& settings) {
  std::set<std::string> ops;
  for (const EdgeFailure& failure : run.failures)
    ops.insert(failure.edge->op);
  std::string fix = "Mend the error above";
  if (planned_ops > ops.size()) fix += ", or build the other ops with --keep-going";
  if (may_be_of_damaged_objects(run))
    fix += "; if a file in " + settings.build_dir.value.string() +
           " is damaged, `dsbuild clean` and build again";
  return fail(
      Exit::failed, "edge_failed", join({ops.begin(), ops.end()}, ", "),
      plural(run.failures.size(), "edge") + " failed; " + settings.out.value.string() + " is as it was",
      fix + ".");
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<int> say_unchanged(const UnchangedBuild& build, Clock::time_point start, const Settings& settings,
                          const CommandContext& context) {
  print_message(build.shown);
  BuildOutcome outcome;
  outcome.bundle = build.bundle;
  outcome.manifest.ops.resize(build.ops);
  outcome.skipped = build.skipped;
  outcome.compared = build.compared;
  outcome.seconds = seconds_since(start);
  DSBUILD_CHECK(print_outcome(outcome, settings, context));
  return 0;
}

Result<int> plan_and_build(Clock::time_point start, const CommandContext& context) {
  DSBUILD_TRY(stages, plan_stages(SelfTest::run, context));
  const Settings& settings = stages.base.settings;
  DSBUILD_CHECK(check_out_folder(settings.out.value, context.system.files));
  DSBUILD_CHECK(check_store(settings, context.system.files));
  DSBUILD_TRY(ninja, find_ninja(settings, context.system, *stages.base.user_facts));
  stages.base.user_facts->save();
  const PlanView view = stages.view(removed_ops(stages, context.system.files));
  if (settings.json.value) (void)print_result(render_plan_json(view, true));
  const std::string shown = plan_text(stages, view, context);
  print_message(shown);

  DSBUILD_TRY(lock, open_build_folder(settings, context));
  DSBUILD_TRY(is_new_plan, write_planned_files(stages, context.system.files));
  RunLog log(settings.build_dir.value, context.system.files);
  const GraphRunner runner{stages, ninja, *lock, log, context};
  DSBUILD_TRY(run, run_until_settled(runner, stages.build));
  std::unique_ptr<ComparisonRun> comparison;
  if (settings.verify_against_nvcc.value && ended_by_itself(run)) {
    DSBUILD_TRY(compared, run_comparison(runner, run.failures));
    comparison = std::move(compared);
    add_run(run, comparison->run);
  }
  stages.base.digests->save();
  if (run.edges_run > 0) stages.base.digests->remove_temporaries();
  stages.base.user_facts->forget_unused();
  stages.base.user_facts->save();
  if (was_interrupted(run)) return run.exit_code;
  if (run.exit_code != 0 && (run.failures.empty() || (settings.keep_going.value && !ended_by_itself(run))))
    return tl::unexpected<Error>(ninja_trouble(run, settings));
  show_failures(run.failures, settings, context);
  if (!run.failures.empty() && !settings.keep_going.value)
    return publish_nothing(run, stages.build.expected.size(), settings);

  BuildOutcome outcome;
  outcome.failures = run.failures;
  outcome.edges_run = run.edges_run;
  outcome.store = run.store;
  outcome.slowest = run.slowest;
  outcome.waits = run.waits;
  outcome.skipped = static_cast<int>(stages.archs.skipped().size());
  outcome.warnings = stages.warnings;
  DSBUILD_CHECK(digest_sources(stages));
  DSBUILD_TRY(manifest, make_manifest(stages, run.failures, context.system.files));
  outcome.manifest = std::move(manifest);
  if (comparison) outcome.compared = comparison->compared;
  DSBUILD_TRY(bundle, publish(stages, outcome.manifest, context));
  outcome.bundle = std::move(bundle);
  stages.build_facts->save();
  outcome.seconds = seconds_since(start);
  std::vector<Warning> warnings = run.warnings;
  append(warnings, outcome.bundle.warnings);
  append(outcome.warnings, warnings);
  print_warnings(warnings, settings, context);
  DSBUILD_CHECK(print_outcome(outcome, settings, context));
  if (!outcome.failures.empty()) return static_cast<int>(Exit::failed);
  const int code = strict_exit(stages, context);
  const bool did_something = is_new_plan || run.edges_run > 0 || outcome.bundle.changed;
  if (code == 0 && did_something)
    remember_build({shown, outcome.bundle, outcome.manifest.ops.size(), outcome.skipped, outcome.compared},
                   stages, context);
  return code;
}

}  // namespace

Result<int> run_build(const CommandContext& context) {
  const Clock::time_point start = Clock::now();
  DSBUILD_TRY(settings, load_settings(context.line.arguments, context.system.environment,
                                      context.system.files, context.data_dir));
  if (const auto unchanged = find_unchanged_build(settings, context))
    return say_unchanged(*unchanged, start, settings, context);
  return plan_and_build(start, context);
}

}  // namespace dsbuild
