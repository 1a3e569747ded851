// watch: builds, waits until something that the build reads is edited, and builds again; after each build
// that did something a command of the user's.
#include <algorithm>

#include "driver/watched_inputs.h"
#include "project_pack.h"
#include "show_events.h"
#include "sys/attached_process.h"
#include "sys/clock.h"
#include "sys/folder_watch.h"
#include "sys/signal_catcher.h"

namespace dsbuild {
namespace {

// How late a signal may be noticed.
constexpr int k_look_ms = 200;
// Editors write several files for one edit, and others follow a moment later: a build begins when nothing has
// changed for so long, or after so many times that.
constexpr int k_quiet_ms = 100, k_most_waits = 20;

constexpr int k_ended_by = 128;  // + the signal's number

// What a build tells while it is watched: what compilers say and what fails. Of the plan its new warnings.
class WatchedEvents : public ShownEvents {
 public:
  WatchedEvents(const Settings& settings, const CommandContext& context, SignalCatcher& signals,
                std::string& shown_warnings)
      : ShownEvents(settings, context),
        settings_(settings),
        context_(context),
        signals_(signals),
        shown_warnings_(shown_warnings) {}

  void on_plan(const Plan& plan, const std::vector<std::string>& removed) override {
    folders_ = folders_of_inputs(plan, context_.system.files);
    signal_ = signals_.take();
    if (signal_ != 0) stop_.request_stop();
    if (settings_.json.value) return ShownEvents::on_plan(plan, removed);
    const std::string text = warnings_text(plan.warnings, settings_, context_);
    if (text != shown_warnings_) print_message(text, style());
    shown_warnings_ = text;
  }
  void on_graph_begins(RunEstimate& estimate) override {
    if (settings_.json.value) ShownEvents::on_graph_begins(estimate);
  }
  void on_edge(const EdgeEvent& event) override {
    if (settings_.json.value) ShownEvents::on_edge(event);
  }
  void on_tick() override {}
  void on_graph_ends() override {}

  Limits limits() const { return {stop_.get_token(), std::nullopt}; }
  const std::set<Path>& folders() const { return folders_; }
  int signal() const { return signal_; }  // that came while it was planned; 0: none

 private:
  const Settings settings_;
  const CommandContext& context_;
  SignalCatcher& signals_;
  std::string& shown_warnings_;
  std::stop_source stop_;
  int signal_ = 0;
  std::set<Path> folders_;
};

class Watch {
 public:
  Watch(const CommandContext& context, FolderWatch folders) : context_(context), queue_(std::move(folders)) {}

  // The exit code: that of the signal which ended it.
  Result<int> run() {
    std::set<Path> watched = own_folders();
    while (true) {
      DSBUILD_CHECK(queue_.watch(watched));
      DSBUILD_TRY(ended, build());
      if (ended != 0) return ended;
      is_first_ = false;
      std::set<Path> needed = own_folders();
      needed.insert(inputs_.begin(), inputs_.end());
      // What was edited in a folder before it was watched is seen by building once more.
      const bool is_complete = std::ranges::includes(watched, needed);
      watched = std::move(needed);
      if (is_complete)
        if (const int signal = wait(); signal != 0) return k_ended_by + signal;
    }
  }

 private:
  // Where config files lie, and the project of the operand.
  std::set<Path> own_folders() const {
    const FileReader& files = context_.system.files;
    std::set<Path> folders;
    if (!context_.line.operands.empty()) folders.insert(files.absolute(context_.line.operands.front()));
    if (const auto config = context_.line.arguments.find("--config"))
      folders.insert(files.absolute(*config).parent_path());
    for (Path folder = files.absolute("."); folder != folder.root_path(); folder = folder.parent_path())
      if (files.kind(folder / "dsbuild.yaml") == FileKind::file) {
        folders.insert(folder);
        break;
      }
    return folders;
  }

  // Not 0: the exit code with which all ends.
  Result<int> build() {
    const double begin = steady_seconds();
    const auto line = line_for_project(context_);
    if (!line) return say_failure(line.error(), nullptr, begin);
    const CommandContext of_project{*line, context_.system, context_.terminal, context_.data_dir};
    auto request = load_request(of_project);
    if (!request) return say_failure(request.error(), nullptr, begin);
    const Settings settings = request->settings;
    outputs_ = {settings.out.value, settings.build_dir.value};
    WatchedEvents events(settings, of_project, signals_, shown_warnings_);
    const auto built = build_shared(std::move(*request), events, events.limits(), of_project);
    if (!events.folders().empty()) inputs_ = events.folders();
    if (!built) return say_failure(built.error(), &events, begin);
    // With what was read for the first time.
    inputs_ = folders_of_inputs(built->plan, context_.system.files);
    if (settings.json.value) DSBUILD_CHECK(print_result(render_build_outcome_json(built->outcome)));
    const int edges = built->outcome.edges_run;
    if (edges == 0 && !is_first_) return 0;
    if (!settings.json.value)
      say(edges > 0 ? "built " + settings.out.value.string() + ": " + plural(edges, "edge") + " in " +
                          seconds_text(steady_seconds() - begin)
                    : "up to date: " + settings.out.value.string());
    return run_program();
  }

  Result<int> say_failure(const Error& failure, const WatchedEvents* events, double begin) {
    const Error error = with_refusals(failure);
    if (error.code == "interrupted") return static_cast<int>(error.exit);
    if (events && events->signal() != 0) return k_ended_by + events->signal();
    if (context_.line.arguments.find("--json")) {
      DSBUILD_CHECK(
          print_result(render_unbuilt_json(error, events ? events->failures() : std::vector<EdgeFailure>{},
                                           events ? events->left() : UnfinishedRun{})));
      return 0;
    }
    const auto color = context_.line.arguments.find("--color");
    const Style style = error_style(color, context_.terminal, context_.system);
    if (error.code != "edge_failed") print_message(render_error(error, style), style);
    say("failed after " + seconds_text(steady_seconds() - begin) +
        (events && !events->left().failed.empty() ? ": " + join(events->left().failed, ", ") : ""));
    return 0;
  }

  // The user's command, which a signal to all of us ends too.
  Result<int> run_program() {
    if (context_.line.program.empty()) return 0;
    DSBUILD_TRY(code, run_attached({context_.line.program, context_.system.environment, {}, {}},
                                   SignalsMeanwhile::are_ours_too));
    if (const int signal = signals_.take(); signal != 0) return k_ended_by + signal;
    if (code != 0) say("exit code " + std::to_string(code) + ": " + shell_join(context_.line.program));
    return 0;
  }

  void say(const std::string& line) { (void)print_result(wall_clock() + "  " + line + "\n"); }

  // The bundle and the build folder change by a build; so do their neighbours in which they are prepared.
  bool is_output(const Path& path) const {
    return std::ranges::any_of(outputs_, [&](const Path& output) {
      const std::string own = context_.system.files.absolute(output).lexically_normal().string();
      return path.string().starts_with(own) ||
             path.string().starts_with(
                 (Path(own).parent_path() / ("." + Path(own).filename().string())).string());
    });
  }

  bool has_edit(const std::set<Path>& changed) const {
    return std::ranges::any_of(changed, [&](const Path& path) { return !is_output(path); });
  }

  // Until something was edited: 0; else the signal that came.
  int wait() {
    while (!has_edit(queue_.changed(k_look_ms)))
      if (const int signal = signals_.take(); signal != 0) return signal;
    for (int i = 0; i < k_most_waits && !queue_.changed(k_quiet_ms).empty(); ++i) {
    }
    return signals_.take();
  }

  const CommandContext& context_;
  FolderWatch queue_;
  SignalCatcher signals_;
  std::set<Path> inputs_;
  std::vector<Path> outputs_;
  std::string shown_warnings_;
  bool is_first_ = true;
};

Result<int> run_watch(const CommandContext& context) {
  DSBUILD_CHECK(load_request(context));  // mistakes of the command line end it
  DSBUILD_TRY(folders, FolderWatch::open());
  return Watch(context, std::move(folders)).run();
}

}  // namespace

CommandRow watch_command() {
  return {.name = "watch",
          .help = "Build, and build again after each edit of what the build reads",
          .run = run_watch,
          .examples = {{"dsbuild watch --pack ./mypack --ops all --arch 8.0",
                        "a line for each build, until Ctrl-C"},
                       {"dsbuild watch --pack ./mypack --ops scale -- python3 mypack/scale/test_scale.py",
                        "and its test after each build that did something"}},
          .options = {extensions_option()},
          .uses = {{"", topics_of_build()}},
          .operands = project_operand("build")};
}

}  // namespace dsbuild
