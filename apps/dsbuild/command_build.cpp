// build: plan, show it, run the graph, publish the bundle, say what came of it.
#include <algorithm>
#include <chrono>
#include <set>

#include "build_folder.h"
#include "graph_run.h"
#include "publish.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

void show_plan(const Stages& stages, const PlanView& view, const CommandContext& context) {
  const Settings& settings = stages.base.settings;
  if (settings.json.value) {
    (void)print_result(render_plan_json(view));
  } else if (settings.verbosity >= 0) {
    print_message(render_plan_table(view, style_for(settings, context, true)) + "\n");
  }
  print_warnings(stages.warnings, settings, context);
}

int count_skipped(const ArchPlan& plan) {
  return static_cast<int>(std::count_if(plan.ops.begin(), plan.ops.end(),
                                        [](const PlannedOp& op) { return op.status == OpStatus::skip; }));
}

// A failure of Ninja itself, not of an edge: a log it cannot read, a file that is missing, no memory.
Error ninja_trouble(const GraphRun& run, const Settings& settings) {
  return Error{{"ninja_failed", settings.build_dir.value.string(),
                "Ninja stopped with exit code " + std::to_string(run.exit_code) +
                    (run.trouble.empty() ? "" : ": " + run.trouble),
                "`dsbuild clean` and build again; if it stays, run ninja -C " +
                    settings.build_dir.value.string() + " -v."},
               Exit::failed};
}

Result<void> print_outcome(const BuildOutcome& outcome, const Settings& settings,
                           const CommandContext& context) {
  if (settings.json.value) return print_result(render_build_outcome_json(outcome));
  return print_result(render_build_outcome(outcome, style_for(settings, context, false)));
}

// Without --keep-going a failure publishes nothing: the old bundle stays.
Result<int> report_failures(const GraphRun& run, const Settings& settings, const CommandContext& context) {
  for (const EdgeFailure& failure : run.failures)
    print_message(render_edge_failure(failure, style_for(settings, context, true)));
  const std::string what =
      plural(run.failures.size(), "edge") + " failed; " + settings.out.value.string() + " is as it was";
  return fail(Exit::failed, "edge_failed", run.failures.front().edge->op, what,
              "Mend the error above, or build the other ops with --keep-going.");
}

int exit_code(const BuildOutcome& outcome, const Settings& settings) {
  if (!outcome.failures.empty()) return static_cast<int>(Exit::failed);
  if (settings.strict.value && outcome.skipped > 0) return static_cast<int>(Exit::unmet);
  return 0;
}

}  // namespace

Result<int> run_build(const CommandContext& context) {
  const Clock::time_point start = Clock::now();
  DSBUILD_TRY(stages, plan_stages(context));
  const Settings& settings = stages.base.settings;
  DSBUILD_CHECK(check_out_folder(settings.out.value, context.system.files));
  DSBUILD_TRY(ninja, find_ninja(settings, context.system, *stages.base.user_facts));
  stages.base.user_facts->save();
  show_plan(stages, stages.view(removed_ops(stages, context.system.files)), context);

  DSBUILD_TRY(lock, open_build_folder(settings, context));
  DSBUILD_CHECK(write_planned_files(stages, context.system.files));
  DSBUILD_TRY(run, run_graph(stages, ninja, *lock, jobs_for(settings, stages.base.host), context));
  if (run.exit_code > 128) return run.exit_code;
  if (run.exit_code != 0 && run.failures.empty()) return tl::unexpected<Error>(ninja_trouble(run, settings));
  if (!run.failures.empty() && !settings.keep_going.value) return report_failures(run, settings, context);

  BuildOutcome outcome;
  outcome.failures = run.failures;
  outcome.edges_run = run.edges_run;
  outcome.slowest = run.slowest;
  outcome.skipped = count_skipped(stages.archs);
  outcome.warnings = stages.warnings;
  DSBUILD_TRY(manifest, make_manifest(stages, run.failures, context.system.files));
  outcome.manifest = std::move(manifest);
  DSBUILD_TRY(bundle, publish(stages, outcome.manifest, context));
  outcome.bundle = std::move(bundle);
  stages.build_facts->save();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  append(outcome.warnings, outcome.bundle.warnings);
  print_warnings(outcome.bundle.warnings, settings, context);
  DSBUILD_CHECK(print_outcome(outcome, settings, context));
  return exit_code(outcome, settings);
}

}  // namespace dsbuild
