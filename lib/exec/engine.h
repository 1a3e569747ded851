// Drives one edge of a build: looks up its result in the cache, else runs its tools, stores the result, and
// writes the record. No other code starts an edge's tools.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "exec/action_run.h"
#include "exec/runner.h"
#include "exec/tool_result.h"
#include "sys/memory_gate.h"

namespace dsbuild {

using Print = std::function<void(std::string_view)>;

// How an edge ended.
struct StepEnd {
  int code = 0;  // of the first tool that failed, or 0
  ResultOrigin made_of = ResultOrigin::nothing_said;
};

class Engine;

// Outputs that a stepper has made or found. If the code is not 0, the other members mean nothing.
struct Made {
  int code = 0;  // of the first tool that failed
  ResultOrigin made_of = ResultOrigin::tools;
  // All outputs; for ResultOrigin::same_input only their names, because the files stay.
  CacheEntry outputs = {};
  // If it has no result key, the engine makes one from the outputs.
  Record record = {};
  // A file with the bytes of the only output, which the engine renames into place. "": the engine writes the
  // bytes.
  std::string temporary = {};

  static Made failed(int code) { return {code}; }
};

// One kind of edge: its outputs, its tools, and how its results are found. It starts tools only by
// Engine::run.
class Stepper {
 public:
  virtual ~Stepper() = default;

  // The path of an output.
  virtual std::string path_of(const std::string& name) const = 0;
  // The outputs that a result must have, in this order; empty: any.
  virtual std::vector<std::string> output_names() const = 0;
  // Whether results are cached. If not, only the record can tell that nothing has to run.
  virtual bool is_cached() const { return true; }

  // Find a record of an edge with the same inputs in the cache, and put one there.
  virtual std::optional<Record> lookup(ActionRun& action) const { return action.lookup(); }
  virtual void share(ActionRun& action, const Record& record) const { action.share(record); }
  // All outputs of a result in the cache. `lines`: as in ResultCache::find.
  virtual std::optional<ToolResult> find(const ResultKey& key, const std::string& lines,
                                         Engine& engine) const;
  // Puts new outputs into the cache.
  virtual void store(const ResultKey& key, const ToolResult& result, Engine& engine) const;

  // Makes the outputs if no record led to a result: finds them in a different way, or runs the tools.
  virtual Result<Made> make(Engine& engine) = 0;

  // Removes outputs of earlier runs that the new result lacks. The engine calls it before it writes the
  // outputs.
  virtual Result<void> clear_others(const CacheEntry&, FileSystem&) const { return {}; }
  // Completes the record in this build folder; the one in the cache stays without these additions.
  virtual Result<void> complete(Record&, ActionRun&) const { return {}; }
  // A tool's output as the user of this edge shall see it.
  virtual std::string shown(const std::string& output) const { return output; }
};

// Asks the memory gate of the build for admission of one edge's tools (lib/sys/memory_gate.h).
class EdgeAdmission : public Admission {
 public:
  explicit EdgeAdmission(MemoryTurn& turn) : turn_(turn) {}
  void acquire_probe();
  void expect(const SeenText& text);  // enter() will ask for the memory that tools need for this text
  void enter() override;
  void leave() override;

 private:
  enum class State { out, looks, expects, works };
  MemoryTurn& turn_;
  State state_ = State::out;
  SeenText text_;
};

class Engine {
 public:
  Engine(ActionRun& action, MemoryTurn& turn, System& system, Runner& runner, const Print& print)
      : action_(action),
        turn_(turn),
        admission_(std::make_shared<EdgeAdmission>(turn)),
        system_(system),
        runner_(runner),
        print_(print),
        results_(action.cache()) {}

  // Does all work of an edge whose record is not up to date. Errors: those of reading and writing. A tool's
  // failure is no error: its exit code is in the value.
  Result<StepEnd> drive(Stepper& stepper);

  // An engine for an action that is a part of this edge.
  Engine of(ActionRun& action) const {
    Engine engine(action, turn_, system_, runner_, print_);
    engine.admission_ = admission_;
    return engine;
  }

  // The functions that steppers use.
  ActionRun& action() { return action_; }
  System& machine() { return system_; }
  FileSystem& files() { return system_.files; }
  const ResultCache& results() const { return results_; }
  // Finds a result: in this folder, as the last run left it, or in the cache. `lines`: as above. The record
  // of the value has the tools' output.
  std::optional<Made> take(const Stepper& stepper, const ResultKey& key, const std::string& lines = {});
  // From now on, takes nothing from the cache and stores nothing. For outputs that depend on more than their
  // key contains.
  void keep_nothing();
  bool keeps_nothing() const { return keeps_nothing_; }

  // Waits for a core and for the preprocessor's memory. Call it before it is known whether further tools will
  // run.
  void acquire_probe() { admission_->acquire_probe(); }
  // Call it before the other tools run. A tool that runs on this machine then waits for memory when it
  // starts.
  void acquire_full(const SeenText& text = {}) {
    milliseconds_ = 0;
    admission_->expect(text);
  }
  // For work that needs no tool.
  void hold_full() { admission_->enter(); }
  Result<ProcessResult> run(ToolRun run);
  // CPU time of the tools that ran since acquire_full(), or since the last call.
  uint64_t take_milliseconds() { return std::exchange(milliseconds_, 0); }
  void print(std::string_view text) { print_(text); }
  bool may_run_elsewhere() const { return runner_.may_run_elsewhere(); }
  // Whether a tool of this edge ran on another machine.
  bool ran_elsewhere() const { return ran_elsewhere_; }

 private:
  std::optional<Made> take_last(const Stepper& stepper, const ResultKey& key, const std::string& lines);
  void store(const Stepper& stepper, Made& made);
  Result<StepEnd> finish(const Stepper& stepper, Made made);
  Result<void> publish(const Stepper& stepper, const Made& made);
  void note_use(const Stepper& stepper, const Made& made);

  ActionRun& action_;
  MemoryTurn& turn_;
  std::shared_ptr<EdgeAdmission> admission_;  // of the whole edge, also in an engine for a part of it
  System& system_;
  Runner& runner_;
  const Print& print_;
  ResultCache results_;
  bool keeps_nothing_ = false;
  bool ran_elsewhere_ = false;
  uint64_t milliseconds_ = 0;
};

}  // namespace dsbuild
