// Runs tools as processes of this machine.
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <stop_token>

#include "exec/runner.h"

namespace dsbuild {

// A thread for each tool that runs. The runner of processes outlives it. Destroyed, it cancels what nobody
// has waited for.
class LocalRunner : public Runner {
 public:
  explicit LocalRunner(ProcessRunner& processes) : processes_(processes) {}
  LocalRunner(const LocalRunner&) = delete;
  LocalRunner& operator=(const LocalRunner&) = delete;
  ~LocalRunner() override;

  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override;
  void cancel(Handle handle) override;

 private:
  struct Running {
    std::stop_source stop;
    std::shared_future<Result<ProcessResult>> result;
  };

  ProcessRunner& processes_;
  std::mutex mutex_;  // guards what follows
  std::map<Handle, Running> running_;
  Handle last_ = 0;
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
