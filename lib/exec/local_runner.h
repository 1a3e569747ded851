// Runs tools as processes on this machine.
#pragma once

#include "exec/tool_threads.h"

namespace dsbuild {

// `processes` must outlive it. The destructor cancels tools that nobody has waited for.
class LocalRunner : public Runner {
 public:
  explicit LocalRunner(ProcessRunner& processes) : processes_(processes) {}

  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override { return threads_.wait(handle); }
  void cancel(Handle handle) override { threads_.cancel(handle); }

 private:
  ProcessRunner& processes_;
  ToolThreads threads_;  // last member, because the threads use the others
};

// The variable that tells a step to start no tool.
inline constexpr const char* k_no_tools_variable = "DSBUILD_STARTS_NO_TOOLS";

// Starts nothing: each wait() fails with exit 1 `not_cached`.
class RefusingRunner : public Runner {
 public:
  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override;
  void cancel(Handle) override {}
};

}  // namespace dsbuild
