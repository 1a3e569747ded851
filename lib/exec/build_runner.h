// Runs hermetic tools on a different machine (remote_execution/) or here, as the process that runs the build
// decides. Other tools run here. A tool that fails there runs again here, and this second run decides: so
// each message that a user sees comes from this machine.
#pragma once

#include "exec/tool_threads.h"
#include "sys/system.h"

namespace dsbuild {

// The variable that tells a step the socket of the process that runs the build. A question is one line. The
// answers:
//   execute FILE   done: it has run. local: run it here. race N: run it here, too; it still runs there as N
//   wait N         done, local: it will not come
//   cancel N       yes: it need not run any more
//   wrong FILE     yes: noted. It failed there, and not here
// FILE is the request: {"output", "argv", "environment", "inputs", "outputs", "required"}, in the folder that
// the tool runs in. After `done`, the answer lies next to it, and the outputs in a folder next to it.
inline constexpr const char* k_execution_variable = "DSBUILD_EXECUTION";
inline constexpr const char *k_execute = "execute", *k_wait = "wait", *k_cancel = "cancel",
                            *k_wrong = "wrong";
inline constexpr const char *k_done = "done", *k_local = "local", *k_race = "race", *k_yes = "yes";
inline constexpr const char* k_request_name = ".remote.json";
inline constexpr const char* k_answer_name =
    ".remote.answer.json";  // {"exit_code", "out", "err" (base64), "milliseconds"}
inline constexpr const char* k_outputs_name = ".remote.outputs";

class BuildRunner : public Runner {
 public:
  // `output`: of the edge. The system outlives it.
  BuildRunner(System& system, std::string output) : system_(system), output_(std::move(output)) {}

  Handle submit(ToolRun run) override;
  Result<ProcessResult> wait(Handle handle) override { return threads_.wait(handle); }
  void cancel(Handle handle) override { threads_.cancel(handle); }
  bool may_run_elsewhere() const override { return true; }

 private:
  Result<ProcessResult> run(const ToolRun& run, const std::stop_token& stop);
  Result<ProcessResult> run_here(const ToolRun& run, const std::stop_token& stop);
  Result<ProcessResult> race(const ToolRun& run, const std::string& number, const std::stop_token& stop);
  std::string ask(const std::string& question) const;
  bool write_request(const ToolRun& run) const;
  std::optional<ProcessResult> take(const ToolRun& run) const;
  void clear(const ToolRun& run) const;

  System& system_;
  const std::string output_;
  ToolThreads threads_;  // last, for they use the others
};

}  // namespace dsbuild
