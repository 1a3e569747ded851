#include "driver/graph_run.h"

#include <algorithm>
#include <atomic>
#include <csignal>

#include "base/build_layout.h"
#include "driver/edge_costs.h"
#include "driver/edge_needs.h"
#include "exec/local_runner.h"
#include "ninja/progress.h"
#include "remote/serve_steps.h"
#include "remote_execution/open_execution.h"
#include "remote_execution/serve_execution.h"
#include "sys/clock.h"
#include "sys/limits.h"

namespace dsbuild {
namespace {

// Ninja itself: one that was stopped by an edge says so, and then its code may be that of the edge.
bool crashed(const RunResult& result) {
  const int signal = result.exit_code - 128;
  const bool by_fault =
      signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  return by_fault && result.stopped.empty();
}

// Idle cores are given to nvcc by its environment, which is no part of a command: how many there are changes
// neither what is rebuilt nor a byte.
Environment edge_environment(const Plan& plan, const BuildPlan& graph, int jobs, const System& system) {
  Environment environment = tool_environment(system, plan.cuda());
  const int threads = threads_per_nvcc(graph.edges, jobs);
  const bool chosen_by_user = plan.settings().nvcc_threads.value > 1;
  if (threads > 1 && !chosen_by_user)
    environment["NVCC_APPEND_FLAGS"] = "--threads=" + std::to_string(threads);
  if (plan.settings().trust() == Trust::nothing) environment[k_paranoid_variable] = "1";
  return environment;
}

// What those of the graph that are due are expected to take.
ExpectedRun expected_run(const Plan& plan, const BuildPlan& graph, const PendingEdges& due, int jobs,
                         ByteCount memory) {
  ExpectedRun run{{}, jobs, memory};
  const std::string& pack = plan.registry().pack;
  for (const Edge& edge : graph.edges) {
    if (due.count(edge.output) == 0) continue;
    const EdgeCost cost = expected_cost(plan.history, pack, edge);
    run.edges.push_back({&edge, cost.seconds, cost.peak_bytes, is_measured(plan.history, pack, edge)});
  }
  return run;
}

// What is left for tools beside this process, Ninja, and the `dsbuild action` of each edge.
ByteCount memory_for_tools(ByteCount memory, int jobs) {
  constexpr ByteCount k_ninja = 16 << 20, k_step = 12 << 20;
  const ByteCount beside = resident_memory() + k_ninja + k_step * static_cast<ByteCount>(jobs);
  return memory - std::min(memory, beside);
}

MemoryWaits sum_up(const std::map<std::string, GateUse>& uses, const Plan& plan, const BuildPlan& graph) {
  constexpr double k_worth_a_word = 0.1;
  MemoryWaits waits{memory_for(plan.settings(), plan.survey.machine.host), 0, 0, {}};
  for (const Edge& edge : graph.edges) {
    const auto use = uses.find(edge.output);
    if (use == uses.end()) continue;
    if (const double seconds = use->second.waited_seconds - use->second.waited_for_core;
        seconds >= k_worth_a_word) {
      ++waits.edges;
      waits.seconds += seconds;
    }
    if (use->second.needed_alone > 0) waits.alone.emplace_back(&edge, use->second.needed_alone);
  }
  return waits;
}

// What the steps noted about the store is counted there, and the store stays within its bound.
CacheUses end_cache_use(const Settings& settings, FileSystem& files) {
  const CacheUses uses = take_cache_uses(settings.build_dir.value, files);
  TieredCache(files, settings.local_cache.value).end_build(uses, settings.local_cache_size.value);
  return uses;
}

// Of edges whose results came from the shared cache in this build.
std::set<std::string> shared_outputs(const CacheUses& store, MirrorLog& log) {
  std::set<std::string> outputs;
  for (const CacheHit& hit : store.found)
    if (log.note_use(hit.result, hit.milliseconds)) outputs.insert(hit.output);
  return outputs;
}

// Without its logs Ninja runs every edge again.
Result<void> forget_history(const Path& folder, FileSystem& files) {
  for (const char* name : {".ninja_log", ".ninja_deps"})
    DSBUILD_CHECK(files.remove_all(folder / name));
  return {};
}

// Starts over without its logs where it crashes, as it does on damaged ones.
Result<RunResult> run_ninja_surely(const NinjaRun& run, Session& session) {
  DSBUILD_TRY(result, run_ninja(run, session.system));
  if (!crashed(result)) return result;
  session.events.on_message("Ninja crashed, as it does on damaged logs; starting over without them");
  DSBUILD_CHECK(forget_history(run.build_dir, session.system.files));
  return run_ninja(run, session.system);
}

NinjaRun ninja_run(const GraphRunner& runner, const BuildPlan& graph, const PendingEdges& reasons) {
  const auto& [plan, ninja, lock, log, diagnostics, timings, session] = runner;
  const int jobs = jobs_for(plan.settings(), plan.survey.machine.host);
  // Edges whose tools run elsewhere wait for them, and the gate lets in as many as there are cores.
  const int elsewhere = session.execution ? plan.settings().remote_jobs.value : 0;
  NinjaRun run{ninja,
               graph,
               plan.settings().build_dir.value,
               jobs + elsewhere,
               plan.settings().keep_going.value,
               edge_environment(plan, graph, jobs, session.system),
               lock.descriptor(),
               {},
               {},
               steady_seconds};
  run.on_event = [&events = session.events, &log = runner.log, &told = diagnostics,
                  &reasons](EdgeEvent event) {
    if (const auto reason = reasons.find(event.edge->output); reason != reasons.end())
      event.reason = reason->second;
    events.on_edge(event);
    told.on_edge(event);
    log.on_event(event);
  };
  run.on_tick = [&session = runner.session] {
    session.events.on_tick();
    return session.check().has_value();
  };
  return run;
}

// For as many steps at once, and as many tools on other machines.
Result<void> allow_connections(int steps, int tools) {
  constexpr int k_for_step = 3;  // to the gate, to what runs tools elsewhere, to the shared cache
  constexpr int k_for_tool = 2;  // its stream, and files on their way: reapi has a connection for each call
  constexpr int k_for_the_rest = 128;
  const int least = k_for_step * steps + k_for_tool * tools + k_for_the_rest;
  return allow_open_files(static_cast<size_t>(least),
                          {"for --remote-jobs " + std::to_string(tools), ", or give a lower --remote-jobs"});
}

// What edges took whose tools were never to run elsewhere: the others waited for that, too.
std::map<std::string, GateUse> measured_here(std::map<std::string, GateUse> uses,
                                             const ExecutorUses& executed) {
  std::erase_if(uses, [&](const auto& use) { return executed.asked.contains(use.first); });
  return uses;
}

// nullptr: all tools run here.
std::unique_ptr<RemoteExecutor> make_executor(const Plan& plan, Session& session, MemoryGate& gate,
                                              std::function<bool()> is_starved) {
  if (!session.execution) return nullptr;
  std::vector<RemoteTools> tools;
  const ToolText &nvcc = plan.tools.of(k_nvcc_tool), &hip = plan.tools.of(k_hip_tool),
                 &cxx = plan.tools.of(k_cxx_tool);
  FileSystem& files = session.system.files;
  if (!nvcc.device_parts.empty()) tools.emplace_back(nvcc.device_parts, files, worker_home(plan.settings()));
  for (const std::string& parts : {hip.device_parts, nvcc.compile_parts, cxx.compile_parts})
    if (!parts.empty()) tools.emplace_back(parts, files);
  if (tools.empty()) return nullptr;
  std::map<std::string, double> expected;
  for (const Edge& edge : plan.graph.edges)
    expected[edge.output] = expected_seconds(plan.history, plan.registry().pack, edge);
  BuildView build{[expected = std::move(expected)](const std::string& output) {
                    const auto found = expected.find(output);
                    return found == expected.end() ? 0 : found->second;
                  },
                  [&gate] { return gate.idle_places(); }, std::move(is_starved)};
  return std::make_unique<RemoteExecutor>(session.execution, std::move(tools),
                                          executor_options(plan.settings()), std::move(build), files);
}

// Watches the edges that run, for one that works far longer than it ever did.
class OverdueWatch {
 public:
  OverdueWatch(const Plan& plan, MemoryGate& gate, std::optional<EdgeLimit> limit)
      : plan_(plan), gate_(gate), limit_(limit) {}

  void on_event(const EdgeEvent& event) {
    if (event.kind == EdgeEventKind::started)
      begun_[event.edge] = steady_seconds();
    else
      begun_.erase(event.edge);
  }

  // Whether there is none. The first that is found is kept.
  bool all_in_time() {
    if (!limit_ || overdue_) return !overdue_;
    for (const auto& [edge, begun] : begun_) {
      const std::string& pack = plan_.registry().pack;
      if (!is_measured(plan_.history, pack, *edge)) continue;
      const double recorded = expected_seconds(plan_.history, pack, *edge);
      const double worked = steady_seconds() - begun - gate_.waited_seconds(edge->output);
      if (worked <= std::max(limit_->least_seconds, limit_->factor * recorded)) continue;
      overdue_ = make_error(Exit::failed, "out_of_time", edge->output,
                            "it had run for " + seconds_text(worked) +
                                " when it was ended; before, it took " + seconds_text(recorded),
                            "Ask again, or build it with `" +
                                own_command({"--pack", plan_.settings().pack.value, "--ops", edge->op}) +
                                "`, which has no time limit, and look at what it waits for.");
      return false;
    }
    return true;
  }
  const std::optional<Error>& error() const { return overdue_; }

 private:
  const Plan& plan_;
  MemoryGate& gate_;
  const std::optional<EdgeLimit> limit_;
  std::map<const Edge*, double> begun_;
  std::optional<Error> overdue_;
};

// The fatbin edge of a slice only puts images together that others have compiled; no result of it is kept.
bool runs_compiler(const Edge& edge) {
  return edge.is_compile() && edge.part != "fatbin";
}

void add_edges(const std::vector<FinishedEdge>& finished, const std::map<std::string, GateUse>& uses,
               const std::set<std::string>& shared, const FailureContext& context, GraphRun& summary) {
  for (const FinishedEdge& ended : finished) {
    const auto use = uses.find(ended.edge->output);
    if (runs_compiler(*ended.edge) && use != uses.end() && use->second.compiled()) ++summary.compiles;
    if (runs_compiler(*ended.edge) && shared.contains(ended.edge->output)) ++summary.shared_compiles;
    if (!summary.slowest || ended.seconds > summary.slowest->seconds) summary.slowest = ended;
    if (ended.failed) summary.failures.push_back(describe_failure(ended, context));
  }
}

}  // namespace

DiagnosticCollector collector_for(const Plan& plan, Session& session) {
  return {OwnPaths(plan.graph.links, plan.settings().build_dir.value, session.system.files),
          [&events = session.events](const ToolDiagnostic& told) { events.on_diagnostic(told); }};
}

Result<GraphRun> run_graph(const GraphRunner& runner, const BuildPlan& graph, const PendingEdges& reasons) {
  const Plan& plan = runner.plan;
  Session& session = runner.session;
  FileSystem& files = session.system.files;
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(session.check());
  NinjaRun run = ninja_run(runner, graph, reasons);
  if (session.execution) DSBUILD_CHECK(allow_connections(run.jobs, settings.remote_jobs.value));
  const Environment environment = run.environment;
  const ByteCount bound = memory_for_tools(memory_for(settings, plan.survey.machine.host), run.jobs);
  EdgeNeeds needs(plan, graph);
  const auto places = static_cast<size_t>(jobs_for(settings, plan.survey.machine.host));
  DSBUILD_TRY(gate, open_memory_gate({bound, places}, {[&](const GateAsk& ask) { return needs.of(ask); },
                                                       [&](const std::string& output, const GateUse& use) {
                                                         needs.learn(output, use);
                                                       }}));
  run.environment[k_memory_gate_variable] = gate->name();
  std::unique_ptr<RequestServer> upstream;
  if (session.remote) {
    DSBUILD_TRY(server, serve_steps(session.remote, run.environment));
    if (session.remote->offers()) run.environment[k_upstream_found_variable] = server->name();
    upstream = std::move(server);
  }
  std::atomic<int> running = 0;
  std::unique_ptr<ExecutionServer> execution;
  if (auto executor = make_executor(plan, session, *gate, [&, jobs = run.jobs] { return running < jobs; })) {
    DSBUILD_TRY(server, serve_execution(std::move(executor), run.environment));
    execution = std::move(server);
  }
  if (session.starts_no_tools) run.environment[k_no_tools_variable] = "1";
  OverdueWatch overdue(plan, *gate, session.limits.edge);
  RunEstimate estimate(expected_run(plan, graph, reasons, run.jobs, bound), steady_seconds,
                       [&gate](const std::string& output) { return gate->waited_seconds(output); });
  run.on_event = [&overdue, &running, &estimate, tell = run.on_event](const EdgeEvent& event) {
    if (event.kind == EdgeEventKind::started) ++running;
    if (event.kind == EdgeEventKind::ended) --running;
    overdue.on_event(event);
    estimate.on_event(event);
    tell(event);
  };
  run.on_tick = [&overdue, &estimate, goes_on = run.on_tick] {
    (void)estimate.seconds_left();  // also where nobody shows it, it is noted
    return goes_on() && overdue.all_in_time();
  };
  session.events.on_graph_begins(estimate);
  runner.diagnostics.on_graph_begins(graph, reasons);
  const double begin = steady_seconds();
  const Result<RunResult> ran = run_ninja_surely(run, session);
  runner.diagnostics.on_graph_ends();
  session.events.on_graph_ends();
  if (!ran) return tl::unexpected<Error>(ran.error());
  if (execution) execution->stop();
  const auto uses = gate->close();
  const CacheUses store = ran->finished.empty() ? CacheUses{} : end_cache_use(settings, files);
  std::set<std::string> shared;
  if (session.remote) runner.timings.note_shared(shared = shared_outputs(store, session.remote->log()));
  GraphRun summary;
  if (execution) summary.execution = execution->uses();
  for (const Warning& warning : warnings_of(summary.execution))
    session.events.on_warning(warning);
  runner.timings.note_elsewhere(summary.execution.edges);
  runner.timings.note_estimates(begin, estimate.said());
  runner.timings.add(plan, graph, ran->finished, uses, {begin, steady_seconds()});
  remember_edge_costs(plan, ran->finished, measured_here(uses, summary.execution), session);

  summary.exit_code = ran->exit_code;
  summary.edges_run = static_cast<int>(ran->finished.size());
  summary.store = store;
  summary.trouble = ran->trouble;
  summary.stopped = ran->stopped;
  summary.waits = sum_up(uses, plan, graph);
  add_edges(ran->finished, uses, shared,
            {plan.registry(), plan.archs, runner.diagnostics.paths(),
             files.absolute(settings.build_dir.value), environment, files},
            summary);
  DSBUILD_CHECK(session.check());
  if (overdue.error()) return tl::unexpected<Error>(*overdue.error());
  return summary;
}

}  // namespace dsbuild
