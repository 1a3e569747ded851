// build: the driver (lib/driver/build_bundle.h), and what it says to people and scripts.
#include <chrono>

#include "cache/counts.h"
#include "driver/diagnostic_collector.h"
#include "driver/null_build.h"
#include "project_pack.h"
#include "remote/open_remote.h"
#include "report/metrics.h"
#include "report/trace.h"
#include "sarif_file.h"
#include "show_events.h"
#include "sys/limits.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<void> print_outcome(const BuildOutcome& outcome, const Settings& settings,
                           const CommandContext& context) {
  const Style style = style_for(settings, context, false);
  return print_done(settings, render_build_outcome_json(outcome), render_build_outcome(outcome, style),
                    style);
}

// Of the last build that ran an edge: a build with nothing to do has none of its own.
Result<void> tell_timings(const Settings& settings, const CommandContext& context) {
  const bool is_traced = context.line.has("--trace");
  if (!settings.timings.value && !is_traced) return {};
  DSBUILD_TRY(timings, load_timings(settings.build_dir.value, context.system.files));
  if (!timings) return {};
  if (is_traced)
    DSBUILD_CHECK(context.system.files.write_file(context.line.value("--trace"), render_trace(*timings)));
  if (!settings.timings.value) return {};
  const Style style = style_for(settings, context, false);
  return print_result(settings.json.value ? render_timings_json(*timings) : render_timings(*timings, style),
                      style);
}

// What is shown depends on it, beside the environment and the disk.
std::string asked_by(const CommandContext& context) {
  const Terminal& terminal = context.terminal;
  return context.line.as_typed + '\0' + context.data_dir.string() + '\0' +
         std::to_string(terminal.stderr_is_terminal) + std::to_string(terminal.stdout_is_terminal) + " " +
         std::to_string(terminal.stderr_columns);
}

// Events of JSON, warnings and what is read of the libraries are not.
bool is_remembered(const Settings& settings, const CommandContext& context) {
  return !settings.json.value && !settings.ptxas_info.value && !settings.shard.value.is_given() &&
         !context.line.has("--sarif");
}

// nullopt: plan and build.
std::optional<UnchangedBuild> find_unchanged(const Request& request, const CommandContext& context) {
  if (!is_remembered(request.settings, context)) return std::nullopt;
  return find_unchanged_build(request, asked_by(context), context.system);
}

Result<int> say_unchanged(const UnchangedBuild& build, Clock::time_point start, const Settings& settings,
                          const CommandContext& context) {
  print_message(build.shown, style_for(settings, context, true));
  BuildOutcome outcome;
  outcome.bundle = build.bundle;
  outcome.manifest.ops.resize(build.ops);
  outcome.skipped = build.skipped;
  outcome.compared = build.compared;
  outcome.seconds = seconds_since(start);
  DSBUILD_CHECK(tell_timings(settings, context));
  DSBUILD_CHECK(print_outcome(outcome, settings, context));
  return 0;
}

// What the tools of all edges said when they were made: a build with nothing to do says it again.
void tell_again(const Plan& plan, const CommandContext& context,
                const std::function<void(const ToolDiagnostic&)>& tell) {
  const FileReader& files = context.system.files;
  const Path& folder = plan.settings().build_dir.value;
  DiagnosticCollector collector(OwnPaths(plan.graph.links, folder, files), tell);
  tell_recorded(plan.graph, folder, files, collector);
}

void remember(const Built& built, const ShownEvents& events, const CommandContext& context) {
  if (!built.did_something) return remember_results(asked_by(context), built.plan, context.system);
  const BuildOutcome& outcome = built.outcome;
  std::string shown = events.shown_plan();
  tell_again(built.plan, context, [&](const ToolDiagnostic& told) { shown += events.text_of(told); });
  const PlanAgain plan_again = [&](System& system) -> Result<Plan> {
    const CommandContext again{context.line, system, context.terminal, context.data_dir};
    DSBUILD_TRY(request, load_request(again));
    Session session(request.settings, system);
    return make_plan(std::move(request), session);
  };
  remember_build({shown, outcome.bundle, outcome.manifest.ops.size(), outcome.skipped, outcome.compared},
                 asked_by(context), built.plan, plan_again, context.system);
}

// The last event, or the last line.
int say_unbuilt(const Error& failure, const ShownEvents& events, const Settings& settings,
                const CommandContext& context) {
  const Error error = with_refusals(failure);
  if (settings.json.value) {
    (void)print_result(render_unbuilt_json(error, events.failures(), events.left()));
  } else {
    const Style style = style_for(settings, context, true);
    print_message(render_error(error, style), style);
    if (!events.failures().empty())
      print_message(render_unfinished(events.left().failed, events.left().built));
  }
  return static_cast<int>(error.exit);
}

// Also after a build that failed, or had nothing to do: what is counted is in the cache's folder.
void write_metrics(const Settings& settings, const CommandContext& context) {
  const Path& file = settings.metrics.value;
  if (file.empty()) return;
  FileSystem& files = context.system.files;
  const auto written = files.write_file(file, render_metrics(read_counts(settings.local_cache.value, files)));
  if (!written)
    print_warnings({warning("metrics_unwritten", file.string(), written.error().what,
                            "Give --metrics a file in an existing, writable folder.")},
                   settings, context);
}

Result<void> place_modules(const Path& bundle, const Settings& settings, const CommandContext& context) {
  if (!context.line.has("--inplace")) return {};
  DSBUILD_TRY(placed, put_in_place(bundle, settings, context.system));
  if (settings.verbosity >= 0)
    for (const std::string& file : placed)
      print_message("in place  " + file + "\n");
  return {};
}

Result<int> do_share(Request request, const CommandContext& context) {
  request.settings = settings_of_shard(std::move(request.settings));
  const Settings settings = request.settings;
  ShownEvents events(settings, context);
  Session session(settings, context.system, events);
  DSBUILD_TRY(shared, open_remote(settings, session.system, RemoteUse::offering));
  session.share_with(std::move(shared));
  const auto outcome = build_shard(std::move(request), session);
  if (!outcome) return say_unbuilt(outcome.error(), events, settings, context);
  DSBUILD_CHECK(print_result(settings.json.value ? render_shard_outcome_json(*outcome)
                                                 : render_shard_outcome(*outcome)));
  return 0;
}

Result<int> build(Request request, const CommandContext& context, SarifLog* log) {
  DSBUILD_CHECK(check_shard(request.settings));
  if (request.settings.shard.value.is_share()) return do_share(std::move(request), context);
  const Clock::time_point start = Clock::now();
  const Settings settings = request.settings;
  if (const auto unchanged = find_unchanged(request, context)) {
    DSBUILD_CHECK(place_modules(unchanged->bundle.path, settings, context));
    return say_unchanged(*unchanged, start, settings, context);
  }
  ShownEvents events(settings, context);
  events.write_down_in(log);
  auto built = build_shared(std::move(request), events, {}, context);
  if (built || built.error().code == "edge_failed") DSBUILD_CHECK(tell_timings(settings, context));
  if (!built && log && built.error().code != "edge_failed") log->add(with_refusals(built.error()));
  if (!built) return say_unbuilt(built.error(), events, settings, context);
  if (built->outcome.edges_run == 0)
    tell_again(built->plan, context, [&](const ToolDiagnostic& told) { events.on_diagnostic(told); });
  DSBUILD_CHECK(place_modules(built->outcome.bundle.path, settings, context));
  DSBUILD_CHECK(print_outcome(built->outcome, settings, context));
  if (!built->outcome.failures.empty()) return static_cast<int>(Exit::failed);
  const int code = strict_exit(built->plan.archs, settings, context);
  if (code == 0 && is_remembered(settings, context)) remember(*built, events, context);
  return code;
}

Result<int> build_project(const CommandContext& context, SarifLog* log) {
  DSBUILD_TRY(line, line_for_project(context));
  const CommandContext of_project{line, context.system, context.terminal, context.data_dir};
  DSBUILD_TRY(request, load_request(of_project));
  const Settings settings = request.settings;
  auto code = build(std::move(request), of_project, log);
  write_metrics(settings, of_project);
  return code;
}

Result<int> run_build(const CommandContext& context) {
  return run_with_sarif(context, [&](SarifLog* log) { return build_project(context, log); });
}

}  // namespace

CommandRow build_command() {
  return {
      .name = "build",
      .help = "Build the selected ops into a bundle (the default command)",
      .run = run_build,
      .examples = {{"dsbuild --ops all --arch 7.0,8.0+PTX", "V100, A100, and PTX for later GPUs"},
                   {"dsbuild --ops fused_adam,cpu_adam", "two ops, the toolkit's default archs"},
                   {"dsbuild --pack ./mypack --ops all --arch 8.0", "ops of your own"},
                   {"dsbuild --config ci --arch 8.0", "with the options of a preset"},
                   {"dsbuild --ops all --shard 3/8 --remote URL",
                    "one of eight machines that share the compiles"},
                   {"dsbuild build --ops all --trace trace.json", "with a timeline for Perfetto"},
                   {"dsbuild build ./torch_scatter --inplace",
                    "the torch extensions of a project with a setup.py"}},
      .options =
          {{.names = "--inplace",
            .help = "Also copy Python modules into the sources, to the paths from which Python imports them"},
           {.names = "--trace",
            .type = "FILE",
            .help = "Write a timeline of the edges: Chrome trace events, for ui.perfetto.dev"},
           sarif_option("Write all errors and warnings as SARIF 2.1.0, for code scanning"),
           extensions_option()},
      .uses = {{"", topics_of_build()}},
      .operands = project_operand("build")};
}

}  // namespace dsbuild
