#include "exec/local_runner.h"

namespace dsbuild {

Runner::Handle LocalRunner::submit(ToolRun run) {
  if (run.admission != nullptr) run.admission->enter();
  return threads_.start([this, command = std::move(run.command)](const std::stop_token& stop) mutable {
    command.stop = stop;
    return processes_.run(command);
  });
}

Runner::Handle RefusingRunner::submit(ToolRun) {
  return 0;
}

Result<ProcessResult> RefusingRunner::wait(Handle) {
  return fail(Exit::failed, "not_cached", "the local cache", "it has no result of this action",
              "Build it: `dsbuild` with the same options.");
}

}  // namespace dsbuild
