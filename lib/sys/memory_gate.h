// A gate between this process and the steps of its build: a step says what it is about to do and waits until
// there is memory for it (lib/sys/memory_queue.h). A local socket, one connection for each step: when a step
// ends, however it ends, the kernel closes its connection, and what it held is free. There is no file and
// nothing to clean up; without a gate (Ninja run by hand, a build that was killed) nobody waits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sys/memory_queue.h"
#include "sys/process.h"

namespace dsbuild {

class Descriptor;

// The variable that tells steps where the gate is.
inline constexpr const char* k_memory_gate_variable = "DSBUILD_MEMORY_GATE";

// What came of one edge, by the output that its step named.
struct GateUse {
  double waited_seconds = 0;
  ByteCount needed_alone = 0;  // what it asked for, where there was not as much and it ran alone; else 0
  bool done = false;           // its tools ran, all of them, and well; then what follows is known
  ByteCount look_bytes = 0, peak_bytes = 0;
  bool operator==(const GateUse&) const = default;
};

// What an edge is expected to need, without the step that runs its tools.
struct GateNeeds {
  ByteCount look_bytes = 0, peak_bytes = 0;
};

class MemoryGate {
 public:
  virtual ~MemoryGate() = default;
  virtual std::string name() const = 0;  // the variable's value
  // How long an edge has waited so far.
  virtual double waited_seconds(const std::string& output) = 0;
  // Closes it; who waits still goes on.
  virtual std::map<std::string, GateUse> close() = 0;
};

// `needs` is asked from another thread, with the output that a step named. Error: exit 1 `io`.
Result<std::unique_ptr<MemoryGate>> open_memory_gate(ByteCount bound,
                                                     std::function<GateNeeds(const std::string&)> needs);

// A step's side of it. Without a gate, nothing is waited for.
class MemoryTurn {
 public:
  // `output` names the edge.
  MemoryTurn(const Environment& environment, const std::string& output);
  MemoryTurn(const MemoryTurn&) = delete;
  MemoryTurn& operator=(const MemoryTurn&) = delete;
  ~MemoryTurn();

  // Before it is known whether there is anything to do.
  void wait_to_look() { wait(MemoryQueue::Kind::look); }
  void wait_to_work() { wait(MemoryQueue::Kind::work); }
  // Of a tool that has ended (ProcessResult::peak_memory_bytes).
  void add_peak(ByteCount bytes);
  // All tools of the edge have run, and well: what they took is remembered for the next build.
  void done();

 private:
  void wait(MemoryQueue::Kind kind);
  void send(const std::string& message);
  std::unique_ptr<Descriptor> socket_;
  std::string output_;
  MemoryQueue::Kind phase_ = MemoryQueue::Kind::look;
  ByteCount look_bytes_ = 0, peak_bytes_ = 0;
};

// What this process holds now.
ByteCount resident_memory();

}  // namespace dsbuild
