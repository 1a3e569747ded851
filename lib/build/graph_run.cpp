#include "build/graph_run.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/build_layout.h"
#include "build/edge_costs.h"
#include "ninja/progress.h"
#include "nvcc/run_step.h"

namespace dsbuild {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string log_name(const Edge& edge) {
  std::string name =
      edge.op + (edge.source.empty() ? "" : "." + edge.source) + "." + Path(edge.output).filename().string();
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return !(std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-');
      },
      '_');
  return name + ".log";
}

// The same command, in the same folder, with the same variables: from anywhere.
std::string reproduce_command(const std::string& command, const Path& folder,
                              const Environment& environment) {
  std::string text = "cd " + shell_quote(folder.string()) + " && env -i";
  for (const auto& [name, value] : environment)
    text += " " + shell_quote(name + "=" + value);
  return text + " sh -c " + shell_quote(command);
}

struct FailureContext {
  const ArchPlan& archs;
  Path source_root;  // `pack` of the build folder
  Path build_dir;    // absolute
  Environment environment;
  FileSystem& files;
};

// A symbol that the linker misses is most often one of a source that no arch of the request is for.
std::string link_hint(const EdgeFailure& failure, const ArchPlan& archs) {
  const PlannedOp* op = archs.find(failure.edge->op);
  const bool misses_symbol = failure.first_error.find("undefined reference") != std::string::npos;
  if (failure.edge->kind != EdgeKind::link || !misses_symbol || !op || op->left_out.empty()) return "";
  return join(op->left_out, ", ") + " is left out for " + arch_text(op->archs) +
         "; guard calls into it with a define that has `when: {any_arch: …}`.";
}

// Not every tool gives the reason for which it could not write: gcc's "could not close temporary response
// file".
std::string space_hint(const FailureContext& context) {
  constexpr uint64_t k_too_little = 16 << 20;
  const auto free = context.files.free_bytes(context.build_dir);
  if (!free || *free >= k_too_little) return "";
  return human_size(*free) + " are left on the disk of " + context.build_dir.string() +
         ": make room, or build elsewhere with --build-dir.";
}

std::string hint_of(const EdgeFailure& failure, const FailureContext& context) {
  if (const std::string hint = space_hint(context); !hint.empty()) return hint;
  if (failure.edge->kind == EdgeKind::comparison)
    return "Build with --backend nvcc, and report it with the log and the source.";
  return link_hint(failure, context.archs);
}

// Where the first error is, as the user knows the file. The commands of a build name sources as pack/….
Place place_of(const std::string& first_error, const FailureContext& context) {
  const std::string pack = "pack/";
  auto place = parse_place(first_error);
  if (!place) return {};
  const bool in_pack = place->file.rfind(pack, 0) == 0;
  const Path file = in_pack ? context.files.absolute(context.source_root) / place->file.substr(pack.size())
                            : context.build_dir / place->file;
  const Path near = file.lexically_relative(context.files.absolute("."));
  const bool is_below = !near.empty() && *near.begin() != "..";
  place->file = (is_below ? near : file).string();
  return *place;
}

// The last line of a slice that failed.
std::string nvcc_alone(const std::string& output, const Path& folder) {
  const size_t place = output.rfind(k_nvcc_alone);
  if (place == std::string::npos) return "";
  return "cd " + shell_quote(folder.string()) + " && " + trim(output.substr(place + k_nvcc_alone.size()));
}

EdgeFailure describe_failure(const FinishedEdge& ended, const FailureContext& context) {
  EdgeFailure failure;
  failure.edge = ended.edge;
  failure.first_error = first_error_line(ended.output);
  failure.place = place_of(failure.first_error, context);
  failure.hint = hint_of(failure, context);
  failure.log = context.build_dir / k_log_folder / log_name(*ended.edge);
  failure.reproduce = reproduce_command(ended.command, context.build_dir, context.environment);
  if (ended.edge->kind == EdgeKind::cuda_slice) failure.nvcc = nvcc_alone(ended.output, context.build_dir);
  // A log that cannot be written must not hide the failure itself.
  (void)context.files.write_file(failure.log, failure.reproduce + "\n\n" + ended.output);
  return failure;
}

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
  Environment environment = tool_environment(system.environment, plan.toolkit());
  const int threads = threads_per_nvcc(graph.edges, jobs);
  const bool chosen_by_user = plan.settings().nvcc_threads.value > 1;
  if (threads > 1 && !chosen_by_user)
    environment["NVCC_APPEND_FLAGS"] = "--threads=" + std::to_string(threads);
  return environment;
}

// What an edge is let in with. A tool does not take the same each time, and an edit may make it take more.
GateNeeds needs_of(const Plan& plan, const BuildPlan& graph, const std::string& output) {
  const auto with_margin = [](ByteCount peak) { return peak + peak / 16 + (8 << 20); };
  for (const Edge& edge : graph.edges) {
    if (edge.output != output) continue;
    const EdgeCost cost = expected_cost(plan.history, plan.registry().pack, edge);
    return {with_margin(cost.look_bytes), with_margin(cost.peak_bytes)};
  }
  return {};
}

// What is left for tools beside this process, Ninja, and the shell and `dsbuild action` of each edge.
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
    if (use->second.waited_seconds >= k_worth_a_word) {
      ++waits.edges;
      waits.seconds += use->second.waited_seconds;
    }
    if (use->second.needed_alone > 0) waits.alone.emplace_back(&edge, use->second.needed_alone);
  }
  return waits;
}

// What the steps noted about the store is counted there, and the store stays within its bound.
StoreUses end_store_use(const Settings& settings, FileSystem& files) {
  const StoreUses uses = take_store_uses(settings.build_dir.value, files);
  ContentStore(files, settings.store.value).end_build(uses, settings.store_size.value);
  return uses;
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
  const auto& [plan, ninja, lock, log, session] = runner;
  const int jobs = jobs_for(plan.settings(), plan.survey.machine.host);
  NinjaRun run{ninja,
               graph,
               plan.settings().build_dir.value,
               jobs,
               plan.settings().keep_going.value,
               edge_environment(plan, graph, jobs, session.system),
               lock.descriptor(),
               {},
               {},
               now_seconds};
  run.on_event = [&events = session.events, &log = runner.log, &reasons](EdgeEvent event) {
    if (const auto reason = reasons.find(event.edge->output); reason != reasons.end())
      event.reason = reason->second;
    events.on_edge(event);
    log.on_event(event);
  };
  run.on_tick = [&session = runner.session] {
    session.events.on_tick();
    return session.check().has_value();
  };
  return run;
}

// Watches the edges that run, for one that works far longer than it ever did.
class OverdueWatch {
 public:
  OverdueWatch(const Plan& plan, MemoryGate& gate, std::optional<EdgeLimit> limit)
      : plan_(plan), gate_(gate), limit_(limit) {}

  void on_event(const EdgeEvent& event) {
    if (event.kind == EdgeEventKind::started)
      begun_[event.edge] = now_seconds();
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
      const double worked = now_seconds() - begun - gate_.waited_seconds(edge->output);
      if (worked <= std::max(limit_->least_seconds, limit_->factor * recorded)) continue;
      overdue_ = make_error(Exit::failed, "out_of_time", edge->output,
                            "it had run for " + seconds_text(worked) +
                                " when it was ended; before, it took " + seconds_text(recorded),
                            "Ask again, or build it with `dsbuild --ops " + edge->op +
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

}  // namespace

std::set<std::string> ops_of(const std::vector<EdgeFailure>& failures) {
  std::set<std::string> ops;
  for (const EdgeFailure& failure : failures)
    ops.insert(failure.edge->op);
  return ops;
}

Result<GraphRun> run_graph(const GraphRunner& runner, const BuildPlan& graph, const PendingEdges& reasons) {
  const Plan& plan = runner.plan;
  Session& session = runner.session;
  FileSystem& files = session.system.files;
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(session.check());
  NinjaRun run = ninja_run(runner, graph, reasons);
  const Environment environment = run.environment;
  const ByteCount bound = memory_for_tools(memory_for(settings, plan.survey.machine.host), run.jobs);
  DSBUILD_TRY(gate, open_memory_gate(
                        bound, [&](const std::string& output) { return needs_of(plan, graph, output); }));
  run.environment[k_memory_gate_variable] = gate->name();
  OverdueWatch overdue(plan, *gate, session.limits.edge);
  run.on_event = [&overdue, tell = run.on_event](const EdgeEvent& event) {
    overdue.on_event(event);
    tell(event);
  };
  run.on_tick = [&overdue, goes_on = run.on_tick] { return goes_on() && overdue.all_in_time(); };
  session.events.on_graph_begins();
  const Result<RunResult> ran = run_ninja_surely(run, session);
  session.events.on_graph_ends();
  if (!ran) return tl::unexpected<Error>(ran.error());
  const auto uses = gate->close();
  remember_edge_costs(plan, ran->finished, uses, session);

  GraphRun summary;
  summary.exit_code = ran->exit_code;
  summary.edges_run = static_cast<int>(ran->finished.size());
  if (!ran->finished.empty()) summary.store = end_store_use(settings, files);
  summary.trouble = ran->trouble;
  summary.stopped = ran->stopped;
  summary.waits = sum_up(uses, plan, graph);
  const FailureContext failure_context{plan.archs, plan.registry().source_root,
                                       files.absolute(settings.build_dir.value), environment, files};
  for (const FinishedEdge& ended : ran->finished) {
    const auto use = uses.find(ended.edge->output);
    if (runs_compiler(*ended.edge) && use != uses.end() && use->second.done) ++summary.compiles;
    if (!summary.slowest || ended.seconds > summary.slowest->seconds) summary.slowest = ended;
    if (ended.failed) summary.failures.push_back(describe_failure(ended, failure_context));
  }
  DSBUILD_CHECK(session.check());
  if (overdue.error()) return tl::unexpected<Error>(*overdue.error());
  return summary;
}

}  // namespace dsbuild
