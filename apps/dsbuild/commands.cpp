#include <cerrno>
#include <cstdio>
#include <cstring>

#include "command.h"

namespace dsbuild {

// The order is that of --help.
const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = {
      {"build", "Build the selected ops into a bundle (the default command)", false, run_build},
      {"plan", "Show what build would do and why", false, run_plan},
      {"report", "Show op by op what is installed and what this machine can build", false, run_report},
      {"explain", "Say why each arch of an op is in or out, and what would be run for it", false,
       run_explain},
      {"inspect", "List the device images inside binary files; needs no CUDA", false, run_inspect},
      {"verify", "Check a bundle against its manifest", false, run_verify},
      {"toolkits", "List the CUDA installations found; `get VERSION` fetches one", false, run_toolkits},
      {"clean", "Remove the build folder", false, run_clean},
      {"step", "Run one step of a build (for build.ninja)", true, run_step},
  };
  return table;
}

Result<void> print_result(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return {};
  return fail(Exit::failed, "io", "stdout", std::string("writing: ") + std::strerror(errno), "");
}

void print_message(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Style style_for(const Settings& settings, const CommandContext& context, bool to_stderr) {
  const bool annotate = to_stderr && settings.annotations.value;
  if (settings.color.value != ColorMode::automatic)
    return {settings.color.value == ColorMode::always, annotate};
  return {to_stderr ? context.terminal.stderr_is_terminal : context.terminal.stdout_is_terminal, annotate};
}

void print_warnings(const std::vector<Warning>& warnings, const Settings& settings,
                    const CommandContext& context) {
  if (settings.verbosity < 0 || settings.json.value) return;  // JSON documents carry them
  for (const Warning& w : warnings)
    print_message(render_warning(w, style_for(settings, context, true)));
}

}  // namespace dsbuild
