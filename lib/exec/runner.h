// Runs the tools of actions, on this machine or a different one. Terms: Remote Execution API v2 (input files,
// output_paths).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

// The files of a hermetic tool. It reads only these and its own parts, so it may run on any machine that has
// its parts. Names are those in its command, relative to the folder in which it runs.
struct HermeticFiles {
  std::vector<std::string> inputs;    // exist from submit() to wait(), and do not change
  std::vector<std::string> outputs;   // all files that it may make; the inputs decide which it makes
  std::vector<std::string> required;  // the outputs that it always makes if it succeeds
  bool operator==(const HermeticFiles&) const = default;
};

// Admits the tools of one edge to this machine's cores and memory.
class Admission {
 public:
  virtual ~Admission() = default;
  virtual void enter() = 0;  // waits for a core and memory, unless the edge has them already
  virtual void leave() = 0;  // gives both back, because no tool of this edge runs here for a while
};

struct ToolRun {
  Command command;                          // its timeout is the deadline, from submit() on
  std::optional<HermeticFiles> hermetic{};  // nullopt: only the tool knows what it reads, so it runs here
  Admission* admission = nullptr;           // must outlive this; nullptr: the tool need not wait
};

class Runner {
 public:
  using Handle = uint64_t;
  virtual ~Runner() = default;

  // Starts a tool. If the tool runs on this machine, the runner calls admission->enter() first, in this call
  // or in the tool's thread.
  virtual Handle submit(ToolRun run) = 0;
  // Waits until the tool has ended and its outputs lie in its folder. Call it once for each handle. Errors:
  // those of ProcessRunner::run. After a cancel, the result is that of a killed process, or the tool's own if
  // it was faster.
  virtual Result<ProcessResult> wait(Handle handle) = 0;
  // Ends a tool soon; does nothing if it has ended. Any thread may call it, also while a second thread waits
  // for the tool.
  virtual void cancel(Handle handle) = 0;
  // Whether hermetic tools may run on a different machine. Then steppers split compiles into hermetic parts.
  virtual bool may_run_elsewhere() const { return false; }
};

}  // namespace dsbuild
