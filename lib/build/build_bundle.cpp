#include "build/build_bundle.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "build/build_counts.h"
#include "build/build_folder.h"
#include "build/cache_transfer.h"
#include "build/publish.h"
#include "build/slice_tests.h"
#include "remote/serve_steps.h"
#include "sys/limits.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// By a signal that was meant for us, which Ninja too was told of. Ninja >= 1.13 also ends with the code of an
// edge, which may be that of a killed compiler.
bool was_interrupted(const GraphRun& run) {
  const int signal = run.exit_code - 128;
  const bool by_signal = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  return by_signal && (run.failures.empty() || run.stopped == "interrupted by user.");
}

Error interrupted(const GraphRun& run, const Settings& settings) {
  return make_error(static_cast<Exit>(run.exit_code), "interrupted", "build",
                    "it was ended by signal " + std::to_string(run.exit_code - 128) + " with " +
                        plural(run.edges_left, "edge") + " left, of " +
                        join({run.ops_left.begin(), run.ops_left.end()}, ", ") + "; " +
                        settings.out.value.string() + " is as it was",
                    "The same command goes on from there: what was made so far is not made anew.");
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
  const std::string limit = limit_named_in(run.trouble);
  return make_error(Exit::failed, "ninja_failed", settings.build_dir.value.string(),
                    how_ninja_ended(run.exit_code) + (run.trouble.empty() ? "" : ": " + run.trouble),
                    !limit.empty() ? limit
                                   : "`dsbuild clean` and build again; if it stays, run ninja -C " +
                                         settings.build_dir.value.string() + " -v.");
}

// What links and verifies reads objects alone. Where nothing else was to be done, they are of an earlier
// build, and may have been damaged since, as by a machine that lost its power.
bool may_be_of_damaged_objects(const GraphRun& run) {
  return static_cast<size_t>(run.edges_run) <= run.failures.size() &&
         std::all_of(run.failures.begin(), run.failures.end(), [](const EdgeFailure& failure) {
           return failure.edge.kind == EdgeKind::link || failure.edge.kind == EdgeKind::verify;
         });
}

UnfinishedRun unfinished(const GraphRun& run, const Plan& plan) {
  const std::set<std::string> failed = ops_of(run.failures);
  UnfinishedRun left{{failed.begin(), failed.end()}, {}, run.edges_left};
  for (const ExpectedOp& op : plan.graph.expected)
    if (run.ops_left.count(op.op) == 0) left.built.push_back(op.op);
  return left;
}

Error edges_failed(const GraphRun& run, const Plan& plan) {
  const Settings& settings = plan.settings();
  const std::set<std::string> ops = ops_of(run.failures);
  std::string fix = "Mend the error above";
  if (plan.graph.expected.size() > ops.size() && !settings.keep_going.value)
    fix += ", or build the other ops with --keep-going";
  if (may_be_of_damaged_objects(run))
    fix += "; if a file in " + settings.build_dir.value.string() +
           " is damaged, `dsbuild clean` and build again";
  return make_error(
      Exit::failed, "edge_failed", join({ops.begin(), ops.end()}, ", "),
      plural(run.failures.size(), "edge") + " failed; " + settings.out.value.string() + " is as it was",
      fix + ".");
}

// Why nothing of the run is to be published.
Result<void> check_can_publish(const GraphRun& run, const Plan& plan) {
  const bool keeps_going = plan.settings().keep_going.value;
  if (was_interrupted(run)) return tl::unexpected<Error>(interrupted(run, plan.settings()));
  if (run.exit_code != 0 && (run.failures.empty() || (keeps_going && !ended_by_itself(run))))
    return tl::unexpected<Error>(ninja_trouble(run, plan.settings()));
  return {};
}

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

void save_what_was_learnt(const GraphRun& run, Session& session) {
  session.digests.save();
  // What a killed build was to note is noted again, by a step or by this process.
  if (run.edges_run > 0 || session.digests.has_saved()) session.digests.remove_temporaries();
  session.facts.forget_unused();
  session.facts.save();
}

BuildOutcome outcome_of(const Plan& plan, const GraphRun& run) {
  BuildOutcome outcome;
  outcome.failures = run.failures;
  outcome.edges_run = run.edges_run;
  outcome.compiles = run.compiles;
  outcome.store = run.store;
  outcome.slowest = run.slowest;
  outcome.waits = run.waits;
  outcome.skipped = static_cast<int>(plan.archs.skipped().size());
  outcome.warnings = plan.warnings;
  append(outcome.warnings, run.told);
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

Result<void> publish_outcome(Built& built, const GraphRun& run, Session& session) {
  BuildOutcome& outcome = built.outcome;
  DSBUILD_TRY(manifest, make_manifest(built.plan, run.failures, session));
  if (manifest.ops.empty()) return tl::unexpected<Error>(edges_failed(run, built.plan));
  outcome.manifest = std::move(manifest);
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
Result<bool> publish_run(Built& built, const GraphRun& run, SliceTests& slice_tests, Session& session) {
  const bool stands = was_interrupted(run) || slice_tests.plan_stands();
  save_what_was_learnt(run, session);
  if (!stands) return false;
  if (run.exit_code != 0) session.events.on_unfinished(unfinished(run, built.plan));
  DSBUILD_CHECK(check_can_publish(run, built.plan));
  for (const EdgeFailure& failure : merged_by_source(run.failures))
    session.events.on_failure(failure);
  if (!run.failures.empty() && !built.plan.settings().keep_going.value)
    return tl::unexpected<Error>(edges_failed(run, built.plan));
  DSBUILD_CHECK(session.check());
  built.outcome = outcome_of(built.plan, run);
  DSBUILD_CHECK(publish_outcome(built, run, session));
  return true;
}

// Who ends a build by a signal does not wait for it.
bool was_ended(const std::string& code) {
  return code == "interrupted" || code == "cancelled" || code == "out_of_time";
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

enum class Testing { beside, done };

// nullopt: the plan counted on slices that are not what nvcc makes. The next one does not.
Result<std::optional<Built>> build_once(Request request, Testing testing, TimingsLog& timings,
                                        Session& session) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(plan, make_plan(std::move(request), session));
  if (testing == Testing::done) plan.untested.clear();
  Built built{.plan = std::move(plan)};
  const Settings& settings = built.plan.settings();
  DSBUILD_CHECK(check_folders(settings, files));
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
  const auto stands = publish_run(built, run, slice_tests, session);
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
  auto tried = build_once(request, Testing::beside, timings, session);
  if (tried && !*tried) {
    timings = {};
    tried = build_once(std::move(request), Testing::done, timings, session);
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
