#include "show_events.h"

#include <ctime>

#include "remote/open_remote.h"
#include "remote_execution/open_execution.h"
#include "sys/clock.h"

namespace dsbuild {

std::string wall_clock() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

Result<Built> build_shared(Request request, Events& events, Limits limits, const CommandContext& context) {
  const Settings settings = request.settings;
  Session session(settings, context.system, events, std::move(limits));
  DSBUILD_TRY(shared, open_remote(settings, session.system));
  session.share_with(std::move(shared));
  DSBUILD_TRY(execution, open_execution(settings, session.system));
  session.execution = std::move(execution);
  return build_bundle(std::move(request), session);
}

// For people; none where they want to be told little.
void ShownEvents::on_plan(const Plan& plan, const std::vector<std::string>& removed) {
  const PlanView view = view_of(plan, removed);
  if (log_)
    for (const Warning& warning : plan.warnings)
      log_->add(warning);
  if (settings_.json.value) {
    (void)print_result(render_plan_json(view, true));
  } else if (settings_.verbosity >= 0) {
    shown_plan_ = without_commands(render_plan_table(view, style())) + "\n" +
                  warnings_text(plan.warnings, settings_, context_);
    print_message(shown_plan_, style());
  }
}

void ShownEvents::on_shard(const ShardShare& share) {
  if (settings_.json.value)
    (void)print_result(render_shard_json(share));
  else if (settings_.verbosity >= 0)
    print_message(render_shard(share), style());
}

void ShownEvents::on_graph_begins(RunEstimate& estimate) {
  const bool quiet = settings_.verbosity < 0 || settings_.json.value;
  const bool live = context_.terminal.stderr_is_terminal && !quiet && settings_.verbosity == 0;
  constexpr int k_usual_columns = 80;
  const int columns = context_.terminal.stderr_columns;
  progress_.emplace(
      Progress::Options{live, quiet, settings_.verbosity > 0, columns > 0 ? columns : k_usual_columns},
      estimate, [live](std::string_view text) { live ? print_drawn(text) : print_message(text); },
      steady_seconds, wall_clock);
}

void ShownEvents::on_edge(const EdgeEvent& event) {
  progress_->on_event(event);
  if (settings_.json.value && event.kind != EdgeEventKind::ended)
    (void)print_result(render_edge_event_json(event));
}

void ShownEvents::on_tick() {
  progress_->on_tick();
}

void ShownEvents::on_graph_ends() {
  progress_->finish();
  progress_.reset();
}

// Who wants to be told little is told of errors.
std::string ShownEvents::text_of(const ToolDiagnostic& told) const {
  const bool is_shown = settings_.verbosity >= 0 || told.diagnostic.severity == Severity::error;
  return is_shown ? render_diagnostic(told, style()) : "";
}

void ShownEvents::on_diagnostic(const ToolDiagnostic& told) {
  if (log_) log_->add(told);
  if (settings_.json.value) (void)print_result(render_diagnostic_json(told));
  const std::string text = text_of(told);
  if (text.empty()) return;
  if (progress_) progress_->finish();
  print_message(text, style());
}

void ShownEvents::on_failure(const EdgeFailure& failure) {
  if (log_) log_->add(failure);
  failures_.push_back(failure);
  print_message(render_edge_failure(failure, style()), style());
}

void ShownEvents::on_warning(const Warning& warning) {
  if (log_) log_->add(warning);
  print_warnings({warning}, settings_, context_);
}

// Of JSON the result says it.
void ShownEvents::on_removed(const Path& folder) {
  if (settings_.verbosity >= 0 && !settings_.json.value) print_message("removed " + folder.string() + "\n");
}

void ShownEvents::on_note(const std::string& line) {
  if (settings_.verbosity >= 0 && !settings_.json.value) print_message(line + "\n");
}

void ShownEvents::on_message(const std::string& line) {
  if (settings_.verbosity >= 0) print_message(line + "\n");
}

}  // namespace dsbuild
