// `dsbuild action …`: what build.ninja runs of dsbuild itself, in the build folder.
#include "command.h"
#include "exec/local_runner.h"
#include "kinds/run_action.h"

namespace dsbuild {
namespace {

Result<int> run_words(const CommandContext& context) {
  LocalRunner runner(context.system.processes);
  DSBUILD_TRY(end, run_action(context.line.operands, context.system, runner, print_tool_output));
  return end.code;
}

}  // namespace

CommandRow action_command() {
  return {.name = "action",
          .help = "Run one action of a build (for build.ninja)",
          .run = run_words,
          .hidden = true};
}

}  // namespace dsbuild
