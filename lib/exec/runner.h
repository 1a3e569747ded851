// Where the tools of actions run: on this machine, or on another. Terms: Remote Execution API v2 (input
// files, output_paths).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

// The files of a hermetic tool: it reads nothing else but these and its own parts, so it may run on any
// machine that has its parts. Names are as its command has them, from the folder that it runs in.
struct HermeticFiles {
  std::vector<std::string> inputs;    // are there from submit() to wait(), and do not change
  std::vector<std::string> outputs;   // that it may make; which it makes depends on the inputs
  std::vector<std::string> required;  // of these, what it always makes when it ends well
  bool operator==(const HermeticFiles&) const = default;
};

// What a tool takes of this machine: a core and memory.
class Admission {
 public:
  virtual ~Admission() = default;
  virtual void enter() = 0;  // waits until there is room for a tool; who is in already stays
  virtual void leave() = 0;  // nothing of this edge's runs here for a while
};

struct ToolRun {
  Command command;                          // its timeout is the deadline, from submit() on
  std::optional<HermeticFiles> hermetic{};  // nullopt: only the tool knows what it reads, so it runs here
  Admission* admission = nullptr;           // outlives it; nullptr: there is always room
};

class Runner {
 public:
  using Handle = uint64_t;
  virtual ~Runner() = default;

  // Starts it. It waits for room on this machine alone, where the tool runs here.
  virtual Handle submit(ToolRun run) = 0;
  // Until it has ended and its outputs lie in its folder. Once for each handle. Errors: those of
  // ProcessRunner::run. Of a cancelled one the result is that of a process that was killed, if not its own.
  virtual Result<ProcessResult> wait(Handle handle) = 0;
  // Ends it soon; one that has ended is left as it is. From any thread, also while another one waits for it.
  virtual void cancel(Handle handle) = 0;
  // Whether hermetic tools may run on another machine: then it pays to give a tool all that it reads.
  virtual bool may_run_elsewhere() const { return false; }
};

}  // namespace dsbuild
