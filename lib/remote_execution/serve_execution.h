// The steps of one command ask the process that runs it where their tools run (exec/build_runner.h).
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

  // The steps have ended; those that were killed left tools at the service.
  void stop() {
    executor_->stop();
    server_.reset();
  }
  ExecutorUses uses() const { return executor_->uses(); }

 private:
  const std::unique_ptr<RemoteExecutor> executor_;
  std::unique_ptr<RequestServer> server_;  // asks the executor
};

// `environment`: of the steps, which find the server by it. Error: exit 1 `io`.
Result<std::unique_ptr<ExecutionServer>> serve_execution(std::unique_ptr<RemoteExecutor> executor,
                                                         Environment& environment);

}  // namespace dsbuild
