// Serves a RemoteExecutor to the steps of one command: they ask the process that runs the command where to
// run their tools (exec/build_runner.h).
#pragma once

#include <memory>

#include "remote_execution/remote_executor.h"
#include "sys/request_server.h"

namespace dsbuild {

class ExecutionServer {
 public:
  ExecutionServer(std::unique_ptr<RemoteExecutor> executor, std::unique_ptr<RequestServer> server)
      : executor_(std::move(executor)), server_(std::move(server)) {}
  ExecutionServer(const ExecutionServer&) = delete;
  ExecutionServer& operator=(const ExecutionServer&) = delete;
  ~ExecutionServer() { stop(); }

  // For the time after all steps have ended. Cancels tools that killed steps left at the service.
  void stop() {
    executor_->stop();
    server_.reset();
  }
  ExecutorUses uses() const { return executor_->uses(); }

 private:
  const std::unique_ptr<RemoteExecutor> executor_;
  std::unique_ptr<RequestServer> server_;  // asks the executor
};

// `environment`: that of the steps; gets the variable by which they find the server. Error: exit 1 `io`.
Result<std::unique_ptr<ExecutionServer>> serve_execution(std::unique_ptr<RemoteExecutor> executor,
                                                         Environment& environment);

}  // namespace dsbuild
