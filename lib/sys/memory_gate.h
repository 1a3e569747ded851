// A gate between this process and the steps of its build: a step says what it is about to do and waits until
// there is memory for it (lib/sys/memory_queue.h). A local socket, one connection for each step: when a step
// ends, however it ends, the kernel closes its connection, and what it held is free. There is no file and
// nothing to clean up; without a gate (Ninja run by hand, a build that was killed) nobody waits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sys/memory_queue.h"
#include "sys/process.h"

namespace dsbuild {

class Descriptor;

// The variable that tells steps where the gate is.
inline constexpr const char* k_memory_gate_variable = "DSBUILD_MEMORY_GATE";

// Where the outputs of a step come from.
enum class ResultOrigin {
  nothing_said,     // it failed, or was killed
  tools,            // all of them ran
  some_tools,       // some ran, and made what others had been given before: theirs was there
  cache,            // taken from the store of results
  same_input,       // the preprocessor gave the same text as before: what was there stays
  record,           // its record holds: nothing ran
  tools_elsewhere,  // all of them ran, some on another machine: nothing is learnt of what they need here
};

// One admission of an edge: `bytes` were set aside for it from `admitted` to its next turn or its end.
struct GateTurn {
  double asked = 0, admitted = 0;  // seconds of the steady clock
  ByteCount bytes = 0;
  double for_core = 0;  // seconds of what it waited: for a place; the rest was for memory
  bool operator==(const GateTurn&) const = default;
};

// What came of one edge, by the output that its step named.
struct GateUse {
  double waited_seconds = 0;
  double waited_for_core = 0;  // of these
  ByteCount needed_alone = 0;  // what it asked for, where there was not as much and it ran alone; else 0
  std::vector<GateTurn> turns;
  ResultOrigin made_of = ResultOrigin::nothing_said;
  ByteCount look_bytes = 0, peak_bytes = 0;  // of the tools that ran, once it has said what it is made of
  bool done() const { return made_of == ResultOrigin::tools; }
  bool compiled() const { return done() || made_of == ResultOrigin::tools_elsewhere; }
  bool operator==(const GateUse&) const = default;
};

// The preprocessed text that an edge's tools are to read.
struct SeenText {
  ByteCount bytes = 0;       // 0: nothing is known of it
  bool reads_torch = false;  // some of it is of torch's headers
};

// Who asks: the output that its step named, and what that has seen.
struct GateAsk {
  std::string output;
  SeenText text;
};

// The expected needs of an edge, without the step that runs its tools.
struct GateNeeds {
  ByteCount look_bytes = 0, peak_bytes = 0;
};

// Both are called from another thread, one at a time.
struct GateKnowledge {
  std::function<GateNeeds(const GateAsk& ask)> needs;
  // An edge has ended and all its tools have run. `needs` is then asked again for all edges that are there: a
  // measurement of one edge counts at once for those that wait.
  std::function<void(const std::string& output, const GateUse& use)> learn;
};

class MemoryGate {
 public:
  virtual ~MemoryGate() = default;
  virtual std::string name() const = 0;  // the variable's value
  // How long an edge has waited so far.
  virtual double waited_seconds(const std::string& output) = 0;
  // Of the places for edges that run; 0 while one waits.
  virtual size_t idle_places() = 0;
  // Closes it; who waits still goes on.
  virtual std::map<std::string, GateUse> close() = 0;
};

// What all edges that run here may take together.
struct GateBounds {
  ByteCount memory = 0;
  size_t places = SIZE_MAX;  // edges at once: as many as there are cores for them
};

// Error: exit 1 `io`.
Result<std::unique_ptr<MemoryGate>> open_memory_gate(GateBounds bounds, GateKnowledge knowledge);

// A step's side of it. Without a gate, nothing is waited for.
class MemoryTurn {
 public:
  // `output` names the edge.
  MemoryTurn(const Environment& environment, const std::string& output);
  MemoryTurn(const MemoryTurn&) = delete;
  MemoryTurn& operator=(const MemoryTurn&) = delete;
  ~MemoryTurn();

  // Before it is known whether there is anything to do.
  void acquire_probe() { wait(MemoryQueue::Kind::look, {}); }
  void acquire_full(const SeenText& text = {}) { wait(MemoryQueue::Kind::work, text); }
  // Holds nothing for a while: its tools run on another machine.
  void leave();
  // Of a tool that has ended (ProcessResult::peak_memory_bytes).
  void add_peak(ByteCount bytes);
  // The edge has ended well. Where all its tools ran, what they took is remembered for the next build.
  void end(ResultOrigin made_of);

 private:
  void wait(MemoryQueue::Kind kind, const SeenText& text);
  std::unique_ptr<Descriptor> socket_;
  std::string output_;
  MemoryQueue::Kind phase_ = MemoryQueue::Kind::look;
  ByteCount look_bytes_ = 0, peak_bytes_ = 0;
};

// What this process holds now.
ByteCount resident_memory();

}  // namespace dsbuild
