// Runs Ninja on the graph and reports what it does as it happens.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "plan/build_plan.h"
#include "sys/fact_store.h"
#include "sys/lock.h"
#include "sys/system.h"

namespace dsbuild {

struct Ninja {
  Path program;
  Version version;
};
// Finds Ninja >= 1.11. If DSBUILD_NINJA is set, only that program counts. Else: the ninja next to this
// program (pip installs both there), <cache>/ninja/*/bin/ninja, then ninja on PATH. Error: exit 3 `no_ninja`.
Result<Ninja> find_ninja(const Settings& settings, System& system, FactStore& facts);

// `ended` comes before the edge's whole output is known. `finished` or `failed` follows, at the latest when
// the next edge starts.
enum class EdgeEventKind { started, ended, finished, failed };
struct EdgeEvent {
  EdgeEventKind kind = EdgeEventKind::started;
  const Edge* edge = nullptr;
  double seconds = 0;  // ended, finished, failed: how long it ran
  int finished = 0, total = 0;
  std::string output;   // finished, failed: what the tools printed
  std::string command;  // failed: the command line
  std::string reason;   // why it runs, in words (lib/exec/staleness.h); "": unknown
};

struct FinishedEdge {
  const Edge* edge = nullptr;
  double begin = 0;  // by the clock
  double seconds = 0;
  bool failed = false;
  std::string output;
  std::string command;
};
struct RunResult {
  int exit_code = 0;                   // Ninja's; 128 + n when interrupted by signal n
  std::vector<FinishedEdge> finished;  // in the order they ended
  std::string trouble;                 // Ninja's own error message if no edge failed
  std::string stopped;                 // why Ninja itself ended early; also "" if it was killed
};

// Parses Ninja's output (with dsbuild's NINJA_STATUS, on a terminal) into events. feed() takes pieces of any
// size; `clock` returns seconds. The plan must outlive this object.
class NinjaOutputParser {
 public:
  NinjaOutputParser(const BuildPlan& plan, std::function<void(const EdgeEvent&)> on_event,
                    std::function<double()> clock);
  void feed(std::string_view bytes);
  void end();
  RunResult take_result();
  static const char* status_format();

 private:
  void line(const std::string& raw);
  void status(const std::string& text);
  void start(const Edge& edge);
  void finish(const Edge& edge);
  void close_ended();
  std::map<std::string, const Edge*> edges_;  // by output
  std::function<void(const EdgeEvent&)> on_event_;
  std::function<double()> clock_;
  std::string pending_;  // an unfinished line
  std::vector<std::pair<const Edge*, double>> running_;
  std::optional<FinishedEdge> ended_;  // the edge that ended last, while its output may still come
  bool expect_command_ = false;        // the line after "FAILED:"
  int started_ = 0, finished_ = 0, total_ = 0;
  RunResult result_;
};

struct NinjaRun {
  const Ninja& ninja;
  const BuildPlan& plan;
  Path build_dir;
  int jobs = 1;
  bool keep_going = false;
  Environment environment;  // of every edge
  int lock_descriptor = -1;
  std::function<void(const EdgeEvent&)> on_event;
  std::function<bool()> on_tick;  // false: Ninja shall end
  std::function<double()> clock;  // seconds
};
Result<RunResult> run_ninja(const NinjaRun& run, System& system);

}  // namespace dsbuild
