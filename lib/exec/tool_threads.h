// A thread for each tool that a runner has started, and the handles by which its callers know them.
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
  // What a thread does: a tool, from its start to its end. It ends soon once the token says so.
  using Work = std::function<Result<ProcessResult>(const std::stop_token& stop)>;

  ToolThreads() = default;
  ToolThreads(const ToolThreads&) = delete;
  ToolThreads& operator=(const ToolThreads&) = delete;
  // Cancels what nobody has waited for, and waits for it.
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

  std::mutex mutex_;  // guards what follows
  std::map<Runner::Handle, Running> running_;
  Runner::Handle last_ = 0;
};

}  // namespace dsbuild
