// `dsbuild action …`: what build.ninja runs of dsbuild itself, in the build folder. `dsbuild action --print
// …`, with the same words, is for people: the action runs again, and each command of its tools is printed.
#include "command.h"
#include "exec/build_runner.h"
#include "exec/local_runner.h"
#include "kinds/run_action.h"

namespace dsbuild {
namespace {

constexpr const char* k_print = "--print";

// Prints each command as a shell would take it from the build folder, with the variables that differ from the
// caller's.
class PrintingRunner : public LocalRunner {
 public:
  explicit PrintingRunner(System& system) : LocalRunner(system.processes), caller_(system.environment) {}

  Handle submit(ToolRun run) override {
    std::string line = run.command.cwd.empty() ? "" : "cd " + shell_join({run.command.cwd.string()}) + " && ";
    for (const auto& [name, value] : run.command.env)
      if (variable(caller_, name) != value) line += name + "=" + shell_join({value}) + " ";
    (void)print_document(line + shell_join(run.command.argv) + "\n");
    return LocalRunner::submit(std::move(run));
  }

 private:
  const Environment& caller_;
};

Result<StepEnd> run_and_print(StepWords words, System& system) {
  words.erase(words.begin());
  PrintingRunner runner(system);
  return run_action(words, system, runner, print_tool_output, ActionRun::Cache::unused);
}

Result<StepEnd> run_as_edge(const StepWords& words, System& system) {
  if (system.environment.contains(k_no_tools_variable)) {
    RefusingRunner refusing;
    return run_action(words, system, refusing, print_tool_output);
  }
  if (system.environment.contains(k_execution_variable)) {
    BuildRunner runner(system, output_of(words));
    return run_action(words, system, runner, print_tool_output);
  }
  LocalRunner runner(system.processes);
  return run_action(words, system, runner, print_tool_output);
}

Result<int> run_words(const CommandContext& context) {
  const StepWords& words = context.line.operands;
  const bool is_printed = !words.empty() && words.front() == k_print;
  DSBUILD_TRY(end, is_printed ? run_and_print(words, context.system) : run_as_edge(words, context.system));
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
