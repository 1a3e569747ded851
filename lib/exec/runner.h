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
  std::vector<std::string> inputs;   // are there from submit() to wait(), and do not change
  std::vector<std::string> outputs;  // that it may make; which it makes depends on the inputs
  bool operator==(const HermeticFiles&) const = default;
};

struct ToolRun {
  Command command;                          // its timeout is the deadline, from submit() on
  std::optional<HermeticFiles> hermetic{};  // nullopt: only the tool knows what it reads, so it runs here
};

class Runner {
 public:
  using Handle = uint64_t;
  virtual ~Runner() = default;

  // Starts it, and returns at once.
  virtual Handle submit(ToolRun run) = 0;
  // Until it has ended and its outputs lie in its folder. Once for each handle. Errors: those of
  // ProcessRunner::run. Of a cancelled one the result is that of a process that was killed, if not its own.
  virtual Result<ProcessResult> wait(Handle handle) = 0;
  // Ends it soon; one that has ended is left as it is. From any thread, also while another one waits for it.
  virtual void cancel(Handle handle) = 0;
};

}  // namespace dsbuild
