#include "exec/tool_threads.h"

namespace dsbuild {

// The futures wait for their threads, which end soon.
ToolThreads::~ToolThreads() {
  for (auto& [handle, running] : running_)
    running.stop.request_stop();
}

Runner::Handle ToolThreads::start(Work work) {
  Running started;
  started.result = std::async(std::launch::async, [work = std::move(work), stop = started.stop.get_token()] {
                     return work(stop);
                   }).share();
  const std::lock_guard lock(mutex_);
  running_.emplace(++last_, std::move(started));
  return last_;
}

Result<ProcessResult> ToolThreads::wait(Runner::Handle handle) {
  std::shared_future<Result<ProcessResult>> result;
  {
    const std::lock_guard lock(mutex_);
    result = running_.at(handle).result;
  }
  result.wait();
  const std::lock_guard lock(mutex_);
  running_.erase(handle);
  return result.get();
}

void ToolThreads::cancel(Runner::Handle handle) {
  const std::lock_guard lock(mutex_);
  if (const auto found = running_.find(handle); found != running_.end()) found->second.stop.request_stop();
}

}  // namespace dsbuild
