// Runs tools as processes of this machine.
#pragma once

#include "exec/tool_threads.h"

namespace dsbuild {

// The runner of processes outlives it. Destroyed, it cancels what nobody has waited for.
class LocalRunner : public Runner {
 public:
  explicit LocalRunner(ProcessRunner& processes) : processes_(processes) {}

  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override { return threads_.wait(handle); }
  void cancel(Handle handle) override { threads_.cancel(handle); }

 private:
  ProcessRunner& processes_;
  ToolThreads threads_;  // last, for they use the others
};

// In the environment of an action: it is to start no tool.
inline constexpr const char* k_no_tools_variable = "DSBUILD_STARTS_NO_TOOLS";

// Starts nothing: the answer to each is exit 1, code `not_cached`.
class RefusingRunner : public Runner {
 public:
  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override;
  void cancel(Handle) override {}
};

}  // namespace dsbuild
