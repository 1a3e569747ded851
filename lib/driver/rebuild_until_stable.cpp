#include "driver/rebuild_until_stable.h"

#include <algorithm>

#include "driver/build_folder.h"
#include "driver/cache_folders.h"
#include "driver/due_actions.h"
#include "driver/key_sketch.h"
#include "plan/comparison_graph.h"

namespace dsbuild {
namespace {

constexpr int k_most_rounds = 4;

Error still_due(const DueActions& due) {
  const auto& [output, change] = *due.begin();
  return make_error(
      Exit::failed, "unsettled", change.path.empty() ? output : change.where(),
      change.text() + ", in each of " + std::to_string(k_most_rounds) + " compiles of " + output,
      "Build again when nothing writes into the sources.");
}

// Where nothing is to be done, nothing is tried either: a build without work changes nothing on the disk.
std::vector<Warning> tell_of_caches(const Plan& plan, Session& session) {
  std::vector<Warning> warnings = check_caches(plan.settings(), session.system.files);
  for (const Warning& warning : warnings)
    session.events.on_warning(warning);
  return warnings;
}

void note_what_is_left(GraphRun& run, const PendingEdges& left, const BuildPlan& graph) {
  for (const Edge& edge : graph.edges)
    if (left.count(edge.output) > 0) run.ops_left.insert(edge.op);
  run.edges_left = left.size();
}

}  // namespace

Result<GraphRun> run_until_settled(const GraphRunner& runner, const BuildPlan& graph) {
  const Plan& plan = runner.plan;
  Session& session = runner.session;
  const auto find_due = [&] { return find_due_actions(plan, graph, session.system, session.digests); };
  GraphRun sum;
  DueActions due = find_due();
  if (!due.empty()) sum.told = tell_of_caches(plan, session);
  const RemoteMisses misses = fetch_what_is_due(due, plan, graph, session);
  runner.timings.note_misses(misses);
  for (int round = 0; !due.empty(); ++round) {
    if (round == k_most_rounds) return tl::unexpected<Error>(still_due(due));
    DSBUILD_CHECK(take_records_away(due, plan.settings().build_dir.value, session.system.files));
    DSBUILD_TRY(run, run_graph(runner, graph, with_misses(reasons_of(due, graph), misses)));
    add_run(sum, std::move(run));
    due = find_due();
    if (sum.exit_code != 0) {
      note_what_is_left(sum, reasons_of(due, graph), graph);
      break;
    }
    sum.warnings = warnings_of_incomplete(take_incomplete(due));
  }
  if (sum.exit_code == 0) share_sketches(misses, plan, graph, session);
  return sum;
}

Result<std::unique_ptr<ComparisonRun>> run_comparison(const GraphRunner& runner,
                                                      const std::vector<EdgeFailure>& failures) {
  const Plan& plan = runner.plan;
  std::vector<SlicedCommand> commands = plan.sliced_commands;
  // Those of HIP have no comparison yet, and are not to be counted as compared.
  std::erase_if(commands, [failed = ops_of(failures)](const SlicedCommand& command) {
    return command.whole.kind != EdgeKind::cuda_compile || failed.count(command.whole.op) > 0;
  });
  auto comparison = std::make_unique<ComparisonRun>();
  comparison->graph = plan_nvcc_comparison(plan.graph, commands);
  put_longest_first(comparison->graph.edges, plan.history, plan.registry().pack);
  DSBUILD_CHECK(write_graph(comparison->graph, plan.settings().build_dir.value, runner.session.system.files));
  DSBUILD_TRY(run, run_until_settled(runner, comparison->graph));
  comparison->run = std::move(run);
  const std::set<std::string> failed = ops_of(comparison->run.failures);
  comparison->compared =
      static_cast<size_t>(std::count_if(commands.begin(), commands.end(), [&](const SlicedCommand& command) {
        return failed.count(command.whole.op) == 0;
      }));
  return comparison;
}

void add_run(GraphRun& sum, GraphRun more) {
  more.edges_run += sum.edges_run;
  more.edges_left += sum.edges_left;
  more.ops_left.insert(sum.ops_left.begin(), sum.ops_left.end());
  more.compiles += sum.compiles;
  more.shared_compiles += sum.shared_compiles;
  more.store.hits += sum.store.hits;
  more.store.misses += sum.store.misses;
  for (const auto& [what, steps] : sum.store.differences)
    more.store.differences[what] += steps;
  more.store.found.insert(more.store.found.end(), sum.store.found.begin(), sum.store.found.end());
  if (sum.slowest && (!more.slowest || sum.slowest->seconds > more.slowest->seconds))
    more.slowest = sum.slowest;
  sum.execution.add(more.execution);
  more.execution = std::move(sum.execution);
  more.waits.edges += sum.waits.edges;
  more.waits.seconds += sum.waits.seconds;
  more.waits.alone.insert(more.waits.alone.begin(), sum.waits.alone.begin(), sum.waits.alone.end());
  more.failures.insert(more.failures.begin(), sum.failures.begin(), sum.failures.end());
  more.told.insert(more.told.begin(), sum.told.begin(), sum.told.end());
  more.warnings.insert(more.warnings.begin(), sum.warnings.begin(), sum.warnings.end());
  if (more.exit_code == 0) more.exit_code = sum.exit_code;
  sum = std::move(more);
}

}  // namespace dsbuild
