#include "exec/local_runner.h"

namespace dsbuild {

// The futures wait for their threads, which end soon.
LocalRunner::~LocalRunner() {
  for (auto& [handle, running] : running_)
    running.stop.request_stop();
}

Runner::Handle LocalRunner::submit(ToolRun run) {
  if (run.admission != nullptr) run.admission->enter();
  Running started;
  run.command.stop = started.stop.get_token();
  started.result = std::async(std::launch::async, [this, command = std::move(run.command)] {
                     return processes_.run(command);
                   }).share();
  const std::lock_guard lock(mutex_);
  running_.emplace(++last_, std::move(started));
  return last_;
}

Result<ProcessResult> LocalRunner::wait(Handle handle) {
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

void LocalRunner::cancel(Handle handle) {
  const std::lock_guard lock(mutex_);
  if (const auto found = running_.find(handle); found != running_.end()) found->second.stop.request_stop();
}

Runner::Handle RefusingRunner::submit(ToolRun) {
  return 0;
}

Result<ProcessResult> RefusingRunner::wait(Handle) {
  return fail(Exit::failed, "not_cached", "the local cache", "it has no result of this action",
              "Build it: `dsbuild` with the same options.");
}

}  // namespace dsbuild
