// Prints the progress of a build, as text or as JSON lines.
#pragma once

#include <optional>

#include "command.h"
#include "ninja/progress.h"
#include "report/sarif.h"

namespace dsbuild {

class ShownEvents : public Events {
 public:
  ShownEvents(const Settings& settings, const CommandContext& context)
      : settings_(settings), context_(context) {}

  void on_plan(const Plan& plan, const std::vector<std::string>& removed) override;
  void on_shard(const ShardShare& share) override;
  void on_graph_begins(RunEstimate& estimate) override;
  void on_edge(const EdgeEvent& event) override;
  void on_tick() override;
  void on_graph_ends() override;
  void on_diagnostic(const ToolDiagnostic& told) override;
  void on_unfinished(const UnfinishedRun& left) override { left_ = left; }
  void on_failure(const EdgeFailure& failure) override;
  void on_warning(const Warning& warning) override;
  void on_removed(const Path& folder) override;
  void on_note(const std::string& line) override;
  void on_message(const std::string& line) override;

  // From now on, also adds messages to this log; nullptr: to none.
  void write_down_in(SarifLog* log) { log_ = log; }

  std::string text_of(const ToolDiagnostic& told) const;
  // The text of the plan and its warnings, as it was printed.
  const std::string& shown_plan() const { return shown_plan_; }
  // The state of the ops after a run that failed or was interrupted, and the failures.
  const UnfinishedRun& left() const { return left_; }
  const std::vector<EdgeFailure>& failures() const { return failures_; }

 protected:
  Style style() const { return style_for(settings_, context_, true); }

 private:
  const Settings settings_;
  const CommandContext& context_;
  SarifLog* log_ = nullptr;
  std::optional<Progress> progress_;
  std::string shown_plan_;
  UnfinishedRun left_;
  std::vector<EdgeFailure> failures_;
};

// Builds with the shared cache and the execution service that the settings name.
Result<Built> build_shared(Request request, Events& events, Limits limits, const CommandContext& context);

std::string wall_clock();  // "12:03:04"

}  // namespace dsbuild
