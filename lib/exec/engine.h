// Drives one edge of a build: looks up what the cache has, runs what is missing, records and stores it. The
// only place where an edge's tools are started.
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

// Outputs that a stepper has made or found. Where the code is not 0, nothing else counts.
struct Made {
  int code = 0;  // of the first tool that failed
  ResultOrigin made_of = ResultOrigin::tools;
  CacheEntry outputs = {};  // all of them; of ResultOrigin::same_input only the names, for the files stay
  // Without a result key, the engine caches the outputs under one of their own.
  Record record = {};
  // A file with the bytes of the only output, which becomes it; "": the bytes are written.
  std::string temporary = {};

  static Made failed(int code) { return {code}; }
};

// One kind of edge: what its tools are, and how results are found. It has no state of the cache's, and starts
// tools by Engine::run alone.
class Stepper {
 public:
  virtual ~Stepper() = default;

  // Where an output lies.
  virtual std::string path_of(const std::string& name) const = 0;
  // Those that a result must have, in their order; empty: any.
  virtual std::vector<std::string> output_names() const = 0;
  // Whether results are cached. Where not, only the record says that nothing has to run.
  virtual bool is_cached() const { return true; }

  // A record in the cache of an edge with the same inputs, and where one is put.
  virtual std::optional<Record> lookup(ActionRun& action) const { return action.lookup(); }
  virtual void share(ActionRun& action, const Record& record) const { action.share(record); }
  // All outputs of a result, from the cache. `lines`: as ResultCache::find has it.
  virtual std::optional<ToolResult> find(const ResultKey& key, const std::string& lines,
                                         Engine& engine) const;
  // The counterpart: puts new outputs into the cache.
  virtual void store(const ResultKey& key, const ToolResult& result, Engine& engine) const;

  // Where nothing was found by the record: other ways to find it, or tools.
  virtual Result<Made> make(Engine& engine) = 0;

  // Before outputs are written; what this folder has of earlier ones goes.
  virtual Result<void> clear_others(const CacheEntry&, FileSystem&) const { return {}; }
  // Adds to the record in this build folder, not to the one in the cache.
  virtual Result<void> complete(Record&, ActionRun&) const { return {}; }
  // A tool's text as the user of this edge sees it.
  virtual std::string shown(const std::string& said) const { return said; }
};

// Of one edge: lets its tools in as the gate of its build says (lib/sys/memory_gate.h).
class EdgeAdmission : public Admission {
 public:
  explicit EdgeAdmission(MemoryTurn& turn) : turn_(turn) {}
  void acquire_probe();
  void expect(const SeenText& text);  // enter() will ask for what tools need that read this
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

  // The whole life of an edge whose record does not say that it is up to date.
  Result<StepEnd> drive(Stepper& stepper);

  // For an action that is a part of this edge.
  Engine of(ActionRun& action) const {
    Engine engine(action, turn_, system_, runner_, print_);
    engine.admission_ = admission_;
    return engine;
  }

  // What steppers build on.
  ActionRun& action() { return action_; }
  System& machine() { return system_; }
  FileSystem& files() { return system_.files; }
  const ResultCache& results() const { return results_; }
  // A result whose outputs are here, as the last run left them, or in the cache; with `lines` as above. Its
  // record has the texts of the tools.
  std::optional<Made> take(const Stepper& stepper, const ResultKey& key, const std::string& lines = {});
  // From now on nothing is taken or stored: the outputs are made of more than their key says.
  void keep_nothing();
  bool keeps_nothing() const { return keeps_nothing_; }

  // Waits for a core and memory: before it is known whether tools run.
  void acquire_probe() { admission_->acquire_probe(); }
  // Before they run: those that run here wait when they start.
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
  std::shared_ptr<EdgeAdmission> admission_;  // of the edge, whichever part of it this is
  System& system_;
  Runner& runner_;
  const Print& print_;
  ResultCache results_;
  bool keeps_nothing_ = false;
  bool ran_elsewhere_ = false;
  uint64_t milliseconds_ = 0;
};

}  // namespace dsbuild
