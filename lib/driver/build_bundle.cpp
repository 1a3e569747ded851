#include "driver/build_bundle.h"

#include <algorithm>
#include <chrono>

#include "driver/build_counts.h"
#include "driver/build_folder.h"
#include "driver/cache_transfer.h"
#include "driver/publish.h"
#include "driver/requested_gate.h"
#include "driver/run_end.h"
#include "driver/slice_tests.h"
#include "remote/serve_steps.h"
#include "remote_execution/open_execution.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

struct Ran {
  GraphRun sum;
  std::unique_ptr<ComparisonRun> comparison;
};

Result<Ran> run_all(const GraphRunner& runner) {
  Ran ran;
  DSBUILD_TRY(run, run_until_settled(runner, runner.plan.graph));
  ran.sum = std::move(run);
  if (!runner.plan.settings().verify_against_nvcc.value || !ended_by_itself(ran.sum)) return ran;
  DSBUILD_TRY(comparison, run_comparison(runner, ran.sum.failures));
  ran.comparison = std::move(comparison);
  add_run(ran.sum, ran.comparison->run);
  return ran;
}

BuildOutcome outcome_of(const Plan& plan, const GraphRun& run, std::optional<MergeCounts> merge) {
  BuildOutcome outcome;
  outcome.merge = std::move(merge);
  if (outcome.merge) outcome.merge->shared = run.shared_compiles;
  outcome.failures = run.failures;
  outcome.edges_run = run.edges_run;
  outcome.compiles = run.compiles;
  outcome.store = run.store;
  outcome.slowest = run.slowest;
  outcome.waits = run.waits;
  outcome.skipped = static_cast<int>(plan.archs.skipped().size());
  outcome.warnings = plan.warnings;
  append(outcome.warnings, run.told);
  if (!plan.settings().remote_exec.value.empty()) outcome.execution = run.execution;
  append(outcome.warnings, warnings_of(run.execution));
  return outcome;
}

// Of the libraries as they are published.
Result<std::vector<OpKernels>> kernels_of(const Manifest& manifest, const Path& bundle,
                                          const FileReader& files) {
  std::vector<OpKernels> kernels;
  for (const ManifestOp& op : manifest.ops) {
    if (op.archs.empty()) continue;
    const Path library = bundle / op.file;
    DSBUILD_TRY(source, files.open(library));
    DSBUILD_TRY(images, read_kernels(*source, library.string()));
    kernels.push_back({op.name, std::move(images)});
  }
  return kernels;
}

// What a bundle must not be is not published.
Result<void> pass_gate(const Gate& gate, const Path& bundle, BuildOutcome& outcome) {
  if (!gate.asks()) return {};
  DSBUILD_TRY(verdict, judge(gate, gated(outcome.manifest, bundle.string())));
  if (!verdict.failures.empty()) return tl::unexpected<Error>(one_of(verdict.failures));
  outcome.gate = std::move(verdict);
  return {};
}

Result<void> publish_outcome(Built& built, const GraphRun& run, const Gate& gate, Session& session) {
  BuildOutcome& outcome = built.outcome;
  DSBUILD_TRY(manifest, make_manifest(built.plan, run.failures, session));
  if (manifest.ops.empty()) return tl::unexpected<Error>(edges_failed(run, built.plan));
  outcome.manifest = std::move(manifest);
  DSBUILD_CHECK(pass_gate(gate, built.plan.settings().out.value, outcome));
  if (built.comparison) outcome.compared = built.comparison->compared;
  DSBUILD_TRY(bundle, publish(built.plan, outcome.manifest, session));
  outcome.bundle = std::move(bundle);
  if (built.plan.settings().ptxas_info.value) {
    DSBUILD_TRY(kernels, kernels_of(outcome.manifest, outcome.bundle.path, session.system.files));
    outcome.kernels = std::move(kernels);
  }
  session.build_facts.save();
  std::vector<Warning> warnings = run.warnings;
  append(warnings, outcome.bundle.warnings);
  for (const Warning& warning : warnings)
    session.events.on_warning(warning);
  append(outcome.warnings, warnings);
  return {};
}

// Whether the plan stands; if so, the bundle is published, where it can be.
Result<bool> publish_run(Built& built, const GraphRun& run, SliceTests& slice_tests, const Gate& gate,
                         Session& session) {
  const bool stands = was_interrupted(run) || slice_tests.plan_stands();
  save_what_was_learnt(run, session);
  if (!stands) return false;
  DSBUILD_CHECK(end_run(run, built.plan, session));
  built.outcome = outcome_of(built.plan, run, std::move(built.outcome.merge));
  DSBUILD_CHECK(publish_outcome(built, run, gate, session));
  return true;
}

// Results of a build that failed go up, too.
std::vector<Warning> end_sharing(const std::string& code_of_error, Session& session) {
  if (!session.remote) return {};
  session.end_sharing(was_ended(code_of_error) ? 0 : k_most_seconds_for_uploads);
  std::vector<Warning> warnings = warnings_of(session.remote->uses());
  for (const Warning& warning : warnings)
    session.events.on_warning(warning);
  return warnings;
}

// nullopt: the plan counted on slices that are not what nvcc makes. The next one does not.
Result<std::optional<Built>> build_once(Request request, SliceTesting testing, TimingsLog& timings,
                                        Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(gate, requested_gate(request.settings, session.system));
  // A wrong key ends a build before it does anything.
  if (const Path& key = request.settings.sign_key.value; !key.empty())
    DSBUILD_CHECK(load_private_key(key, files));
  DSBUILD_TRY(plan, make_plan(std::move(request), session));
  DSBUILD_CHECK(check_gate(gate, plan));
  if (testing == SliceTesting::done) plan.untested.clear();
  Built built{.plan = std::move(plan)};
  const Settings& settings = built.plan.settings();
  DSBUILD_CHECK(check_folders(settings, files));
  DSBUILD_TRY(merge, check_merge(built.plan, files));
  built.outcome.merge = std::move(merge);
  DSBUILD_TRY(ninja, find_ninja(settings, session.system, session.facts));
  session.facts.save();
  session.events.on_plan(built.plan, removed_ops(built.plan, files));

  DSBUILD_TRY(lock, open_build_folder(built.plan.survey.request, session));
  built.lock = std::move(lock);
  DSBUILD_TRY(is_new_plan, write_planned_files(built.plan, files));
  RunLog log(settings.build_dir.value, files);
  SliceTests slice_tests(built.plan, session);
  DiagnosticCollector diagnostics = collector_for(built.plan, session);
  auto ran = run_all({built.plan, ninja, *built.lock, log, diagnostics, timings, session});
  if (!ran) return tl::unexpected<Error>(ran.error());
  const GraphRun& run = ran->sum;
  built.comparison = std::move(ran->comparison);
  const auto stands = publish_run(built, run, slice_tests, gate, session);
  timings.end(built.plan, stands && run.failures.empty());
  if (!stands) return tl::unexpected<Error>(stands.error());
  if (!*stands) return std::nullopt;
  built.did_something = is_new_plan || run.edges_run > 0 || built.outcome.bundle.changed;
  return built;
}

}  // namespace

Result<Built> build_bundle(Request request, Session& session) {
  const Clock::time_point start = Clock::now();
  const Settings settings = request.settings;
  TimingsLog timings;
  auto tried = build_once(request, SliceTesting::beside, timings, session);
  if (tried && !*tried) {
    timings = {};
    tried = build_once(std::move(request), SliceTesting::done, timings, session);
  }
  const std::vector<Warning> warnings = end_sharing(tried ? "" : tried.error().code, session);
  timings.write(session.remote ? session.remote->log().spans() : std::vector<RemoteSpan>{},
                settings.build_dir.value, session.system.files);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (timings.ran_edges()) count_build({seconds, !tried}, settings, session);
  DSBUILD_TRY(built, std::move(tried));
  append(built->outcome.warnings, warnings);
  if (session.remote) built->outcome.remote = session.remote->uses();
  built->outcome.seconds = seconds;
  return std::move(*built);
}

}  // namespace dsbuild
