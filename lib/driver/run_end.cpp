#include "driver/run_end.h"

#include <algorithm>
#include <csignal>

#include "settings/given_options.h"
#include "sys/limits.h"

namespace dsbuild {
namespace {

Error interrupted(const GraphRun& run, const Settings& settings) {
  return make_error(static_cast<Exit>(run.exit_code), "interrupted", "build",
                    "it was ended by signal " + std::to_string(run.exit_code - 128) + " with " +
                        plural(run.edges_left, "edge") + " left, of " +
                        join({run.ops_left.begin(), run.ops_left.end()}, ", ") + "; " +
                        settings.out.value.string() + " is as it was",
                    "The same command goes on from there: what was made so far stays.");
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
                                   : "Run `" + own_command({"clean"}, given_places(settings)) +
                                         "` and build again. If the error remains, run ninja -C " +
                                         shell_quote(settings.build_dir.value.string()) + " -v.");
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

// Why nothing of the run is to be published.
Result<void> check_can_publish(const GraphRun& run, const Plan& plan) {
  const bool keeps_going = plan.settings().keep_going.value;
  if (was_interrupted(run)) return tl::unexpected<Error>(interrupted(run, plan.settings()));
  if (run.exit_code != 0 && (run.failures.empty() || (keeps_going && !ended_by_itself(run))))
    return tl::unexpected<Error>(ninja_trouble(run, plan.settings()));
  return {};
}

}  // namespace

bool was_interrupted(const GraphRun& run) {
  const int signal = run.exit_code - 128;
  const bool by_signal = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  return by_signal && (run.failures.empty() || run.stopped == "interrupted by user.");
}

bool ended_by_itself(const GraphRun& run) {
  return run.exit_code == 0 || !run.stopped.empty();
}

Error edges_failed(const GraphRun& run, const Plan& plan) {
  const Settings& settings = plan.settings();
  const std::set<std::string> ops = ops_of(run.failures);
  std::string fix = "Mend the error above";
  if (plan.graph.expected.size() > ops.size() && !settings.keep_going.value)
    fix += ", or build the other ops with --keep-going";
  if (may_be_of_damaged_objects(run))
    fix += "; if a file in " + settings.build_dir.value.string() + " is damaged, `" +
           own_command({"clean"}, given_places(settings)) + "` and build again";
  return make_error(
      Exit::failed, "edge_failed", join({ops.begin(), ops.end()}, ", "),
      plural(run.failures.size(), "edge") + " failed; " + settings.out.value.string() + " is as it was",
      fix + ".");
}

Result<void> end_run(const GraphRun& run, const Plan& plan, Session& session) {
  if (run.exit_code != 0) session.events.on_unfinished(unfinished(run, plan));
  DSBUILD_CHECK(check_can_publish(run, plan));
  for (const EdgeFailure& failure : merged_by_source(run.failures))
    session.events.on_failure(failure);
  if (!run.failures.empty() && !plan.settings().keep_going.value)
    return tl::unexpected<Error>(edges_failed(run, plan));
  return session.check();
}

void save_what_was_learnt(const GraphRun& run, Session& session) {
  session.digests.save();
  // What a killed build was to note is noted again, by a step or by this process.
  if (run.edges_run > 0 || session.digests.has_saved()) session.digests.remove_temporaries();
  session.facts.forget_unused();
  session.facts.save();
}

bool was_ended(const std::string& code) {
  return code == "interrupted" || code == "cancelled" || code == "out_of_time";
}

}  // namespace dsbuild
