// `dsbuild completion SHELL` prints the script of share/dsbuild/completions that asks `dsbuild complete`.
#include <algorithm>

#include "command.h"
#include "completion.h"

namespace dsbuild {
namespace {

Result<int> run_completion(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  const std::vector<std::string> shells = {"bash", "fish", "zsh"};
  if (words.size() != 1 || std::find(shells.begin(), shells.end(), words.front()) == shells.end())
    return fail(Exit::usage, "bad_option", "completion",
                words.empty() ? "no shell named"
                              : "not understood: " + shell_join(words) + did_you_mean(words.front(), shells),
                "Usage: dsbuild completion bash|zsh|fish");
  DSBUILD_TRY(script, context.system.files.read_file(context.data_dir / "completions" /
                                                     ("dsbuild." + words.front())));
  DSBUILD_CHECK(print_result(script));
  return 0;
}

Result<int> run_complete(const CommandContext& context) {
  if (context.line.operands.size() != 1)
    return fail(Exit::usage, "bad_option", "complete", "takes the line up to the cursor, as one word",
                "Completion scripts run it. Usage: dsbuild completion bash|zsh|fish");
  DSBUILD_CHECK(print_result(render_completion(complete(context.line.operands.front(), context))));
  return 0;
}

}  // namespace

CommandRow completion_command() {
  return {.name = "completion",
          .help = "Print the completion script of a shell",
          .run = run_completion,
          .examples = {{"source <(dsbuild completion bash)", "Tab completes ops, archs and options (or zsh)"},
                       {"dsbuild completion fish | source", "the same in fish"}},
          .operands = Operands{"shell", "bash|zsh|fish", "The shell"},
          .reads_settings = false};
}

CommandRow complete_command() {
  return {.name = "complete",
          .help = "Answer a completion script",
          .run = run_complete,
          .operands = Operands{"words", "WORD", ""},
          .hidden = true};
}

}  // namespace dsbuild
