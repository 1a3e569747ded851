// One thread for each tool that a runner has started, and the handles of these tools.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <stop_token>

#include "exec/runner.h"

namespace dsbuild {

class ToolThreads {
 public:
  // The work of a thread: runs one tool to its end, and ends soon after a stop request.
  using Work = std::function<Result<ProcessResult>(const std::stop_token& stop)>;

  ToolThreads() = default;
  ToolThreads(const ToolThreads&) = delete;
  ToolThreads& operator=(const ToolThreads&) = delete;
  // Cancels the tools that nobody has waited for, and waits for their threads.
  ~ToolThreads();

  Runner::Handle start(Work work);
  // As Runner::wait and Runner::cancel.
  Result<ProcessResult> wait(Runner::Handle handle);
  void cancel(Runner::Handle handle);

 private:
  struct Running {
    std::stop_source stop;
    std::shared_future<Result<ProcessResult>> result;
  };

  std::mutex mutex_;  // guards the following members
  std::map<Runner::Handle, Running> running_;
  Runner::Handle last_ = 0;
};

}  // namespace dsbuild
