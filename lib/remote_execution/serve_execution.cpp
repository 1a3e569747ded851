#include "remote_execution/serve_execution.h"

#include "exec/build_runner.h"

namespace dsbuild {

Result<std::unique_ptr<ExecutionServer>> serve_execution(std::unique_ptr<RemoteExecutor> executor,
                                                         Environment& environment) {
  DSBUILD_TRY(server, open_request_server([executor = executor.get()](const std::string& question) {
                return executor->answer(question);
              }));
  environment[k_execution_variable] = server->name();
  return std::make_unique<ExecutionServer>(std::move(executor), std::move(server));
}

}  // namespace dsbuild
