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
// $DSBUILD_NINJA and no other, where that is set; else the one next to this program (as pip installs both),
// <cache>/ninja/*/bin/ninja, then ninja on PATH; >= 1.11. Exit 3 `no_ninja`.
Result<Ninja> find_ninja(const Settings& settings, System& system, FactStore& facts);

// An edge has ended before all of what it printed is known: `finished` or `failed` follows, at the latest
// when the next one starts.
enum class EdgeEventKind { started, ended, finished, failed };
struct EdgeEvent {
  EdgeEventKind kind = EdgeEventKind::started;
  const Edge* edge = nullptr;
  double seconds = 0;  // ended, finished, failed: how long it ran
  int finished = 0, total = 0;
  std::string output;   // finished, failed: what the tools printed
  std::string command;  // failed: the command line
  std::string reason;   // why it runs, in words (lib/exec/staleness.h); "": nobody has said
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
  std::string trouble;                 // Ninja's own complaint when no edge failed
  std::string stopped;                 // why Ninja itself ended early; "" too when it was killed
};

// Ninja's output (with our NINJA_STATUS, on a terminal) -> events. Fed with pieces of any size; `clock` gives
// seconds. The plan must outlive it.
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
  std::function<bool()> on_tick;  // false: it is to end
  std::function<double()> clock;  // seconds
};
Result<RunResult> run_ninja(const NinjaRun& run, System& system);

}  // namespace dsbuild
