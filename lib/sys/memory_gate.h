// Admits the steps of a build while there is memory: a step names its output and waits until there is enough
// memory for it (lib/sys/memory_queue.h). Each step has a connection to a local socket. However a step ends,
// the kernel closes its connection, which frees its memory. There is no file to clean up. Without a gate
// (Ninja run by hand, a killed build), no step waits.
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

// How a step got its outputs.
enum class ResultOrigin {
  nothing_said,     // it failed, or was killed
  tools,            // all of them ran
  some_tools,       // some ran; the cache had the results of the others
  cache,            // from the cache
  same_input,       // the preprocessed text was the same as before, so the outputs stayed
  record,           // its record was up to date, so nothing ran
  tools_elsewhere,  // all ran, some of them on a different machine, so nothing was measured here
};

// One admission of an edge: `bytes` were set aside for it from `admitted` to its next turn or its end.
struct GateTurn {
  double asked = 0, admitted = 0;  // seconds of the steady clock
  ByteCount bytes = 0;
  double for_core = 0;  // seconds of the wait that were for a core; the rest were for memory
  bool operator==(const GateTurn&) const = default;
};

// The result of one edge, by the output that its step named.
struct GateUse {
  double waited_seconds = 0;
  double waited_for_core = 0;  // the part of it for a core
  ByteCount needed_alone = 0;  // the memory that it asked for, if that exceeded the limit and it ran alone;
                               // else 0
  std::vector<GateTurn> turns;
  ResultOrigin made_of = ResultOrigin::nothing_said;
  ByteCount look_bytes = 0, peak_bytes = 0;  // of the tools that ran, once it has said what it is made of
  bool done() const { return made_of == ResultOrigin::tools; }
  bool compiled() const { return done() || made_of == ResultOrigin::tools_elsewhere; }
  bool operator==(const GateUse&) const = default;
};

// Describes the preprocessed text that an edge's tools will read.
struct SeenText {
  ByteCount bytes = 0;       // 0: unknown
  bool reads_torch = false;  // it contains headers of torch
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

// A different thread calls both, one at a time.
struct GateKnowledge {
  std::function<GateNeeds(const GateAsk& ask)> needs;
  // Called after an edge whose tools all ran. The gate then asks `needs` again for all present edges, so that
  // a measurement counts at once for waiting edges.
  std::function<void(const std::string& output, const GateUse& use)> learn;
};

class MemoryGate {
 public:
  virtual ~MemoryGate() = default;
  virtual std::string name() const = 0;  // the variable's value
  // How long an edge has waited so far.
  virtual double waited_seconds(const std::string& output) = 0;
  // How many more edges could run; 0 while one waits.
  virtual size_t idle_places() = 0;
  // Closes the gate; waiting steps then go on.
  virtual std::map<std::string, GateUse> close() = 0;
};

// The limits for all running edges together.
struct GateBounds {
  ByteCount memory = 0;
  size_t places = SIZE_MAX;  // how many edges may run at the same time: the cores for them
};

// Error: exit 1 `io`.
Result<std::unique_ptr<MemoryGate>> open_memory_gate(GateBounds bounds, GateKnowledge knowledge);

// The gate as a step sees it. Without a gate, no call waits.
class MemoryTurn {
 public:
  // `output` names the edge.
  MemoryTurn(const Environment& environment, const std::string& output);
  MemoryTurn(const MemoryTurn&) = delete;
  MemoryTurn& operator=(const MemoryTurn&) = delete;
  ~MemoryTurn();

  // To be called before the step knows whether it has anything to do.
  void acquire_probe() { wait(MemoryQueue::Kind::look, {}); }
  void acquire_full(const SeenText& text = {}) { wait(MemoryQueue::Kind::work, text); }
  // Gives slot and memory back for a while, because its tools run on a different machine.
  void leave();
  // The peak memory of a tool that has ended (ProcessResult::peak_memory_bytes).
  void add_peak(ByteCount bytes);
  // To be called when the edge has succeeded. If all its tools ran, the next build uses their peak memory.
  void end(ResultOrigin made_of);

 private:
  void wait(MemoryQueue::Kind kind, const SeenText& text);
  std::unique_ptr<Descriptor> socket_;
  std::string output_;
  MemoryQueue::Kind phase_ = MemoryQueue::Kind::look;
  ByteCount look_bytes_ = 0, peak_bytes_ = 0;
};

// The memory of this process now.
ByteCount resident_memory();

}  // namespace dsbuild
