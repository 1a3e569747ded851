#include <cerrno>
#include <cstdio>
#include <cstring>

#include "command.h"

namespace dsbuild {

namespace {

// Commands on the ops of a pack.
std::vector<CommandRow> op_commands() {
  return {
      {"build",
       "Build the selected ops into a bundle (the default command)",
       false,
       run_build,
       {{"dsbuild --ops all --arch \"7.0;8.0+PTX\"", "every op for V100 and A100, PTX for what comes later"},
        {"dsbuild --ops fused_adam,cpu_adam", "two ops, for the default archs of the toolkit"},
        {"dsbuild --pack ./mypack --ops all --arch 8.0", "ops of your own"},
        {"dsbuild --config ci --arch 8.0", "with the options of a preset"}}},
      {"plan",
       "Show what build would do and why",
       false,
       run_plan,
       {{"dsbuild plan --ops all --arch \"8.0;9.0a\"", "what would be built, dropped and why"},
        {"dsbuild plan -v --ops all", "the same, with where each setting came from"},
        {"dsbuild plan --ops all --format env", "the archs as TORCH_CUDA_ARCH_LIST, for another build"}}},
      {"report",
       "Show op by op what is installed and what this machine can build",
       false,
       run_report,
       {{"dsbuild report", "what is installed, what this machine can build"},
        {"dsbuild report --gpu 8.6,9.0", "how the bundle runs on those GPUs"},
        {"dsbuild report --json", "the same for a script"}}},
      {"explain",
       "Say why each arch of an op is in or out, and what would be run for it",
       false,
       run_explain,
       {{"dsbuild explain fused_adam", "why each arch is in it or not"},
        {"dsbuild explain fused_adam 8.6", "the same for one arch, and what runs on it"}}},
  };
}

// Commands on what was built, and the rest.
std::vector<CommandRow> other_commands() {
  return {
      {"inspect",
       "List the device images inside binary files; needs no CUDA",
       false,
       run_inspect,
       {{"dsbuild inspect lib.so", "the device images inside a binary"},
        {"dsbuild inspect dsbuild-out --gpu 8.6",
         "those of every library of a bundle, and how that GPU runs them"}}},
      {"verify",
       "Check a bundle against its manifest",
       false,
       run_verify,
       {{"dsbuild verify dsbuild-out", "whether a bundle is what was planned"},
        {"dsbuild verify --against-nvcc --arch 8.0", "whether it is what nvcc makes"}}},
      {"wheel",
       "Make a wheel of a bundle's Python modules, for pip",
       false,
       run_wheel,
       {{"dsbuild wheel dsbuild-out", "a wheel for the torch and Python that the ops were built for"}}},
      {"install",
       "Install a bundle's Python modules where there is no pip",
       false,
       run_install,
       {{"dsbuild install dsbuild-out --target /venv/lib/python3.11/site-packages", "as pip would the wheel"},
        {"dsbuild install --remove --target /venv/lib/python3.11/site-packages", "take it away again"}}},
      {"toolkits",
       "List the CUDA installations found; `get VERSION` fetches one",
       false,
       run_toolkits,
       {{"dsbuild toolkits get 11.8", "CUDA 11.8 into your cache folder, for 7.0 and older"},
        {"dsbuild toolkits", "the CUDA installations found"},
        {"dsbuild toolkits --for --ops all --arch 7.0", "which toolkit that build takes"}}},
      {"new",
       "Write an op of your own to start from: spec, kernel, binding, test",
       false,
       run_new,
       {{"dsbuild new scale --pack ./mypack", "a working CUDA op in ./mypack/scale"},
        {"dsbuild new scale --backend cpu", "one for the CPU, in ./mypack"}}},
      {"clean",
       "Remove the build folder; what `cache` shows stays",
       false,
       run_clean,
       {{"dsbuild clean --bundle", "remove the build folder and the bundle"}}},
      {"cache",
       "Show, prune or clear the store of results that all build folders share",
       false,
       run_cache,
       {{"dsbuild cache stats", "where it is, how large it is, what builds found in it"},
        {"dsbuild cache prune --cache-size 5G", "remove what was not used for longest, down to that size"},
        {"dsbuild cache clear", "remove all of it; builds make it anew"}}},
      {"completion",
       "Print the completion script of a shell",
       false,
       run_completion,
       {{"source <(dsbuild completion bash)", "Tab completes ops, archs and options (or zsh)"},
        {"dsbuild completion fish | source", "the same in fish"}}},
      {"complete", "Answer a completion script", true, run_complete, {}},
      {"action", "Run one action of a build (for build.ninja)", true, run_action, {}},
  };
}

std::vector<CommandRow> all_commands() {
  std::vector<CommandRow> all = op_commands();
  for (CommandRow& row : other_commands())
    all.push_back(std::move(row));
  return all;
}

}  // namespace

// The order is that of --help.
const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = all_commands();
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

Result<Request> load_request(const CommandContext& context) {
  const System& system = context.system;
  DSBUILD_TRY(settings,
              load_settings(context.line.arguments, system.environment, system.files, context.data_dir));
  return Request{std::move(settings), context.line.as_typed};
}

Result<std::vector<ComputeCapability>> asked_gpus(const CommandContext& context,
                                                  const std::vector<Gpu>& visible) {
  const std::vector<ComputeCapability> found = capabilities_of(visible);
  return context.line.gpus ? parse_gpus(*context.line.gpus, "--gpu", found) : found;
}

int strict_exit(const ArchPlan& archs, const Settings& settings, const CommandContext& context) {
  const std::vector<std::string> skipped = archs.skipped();
  if (!settings.strict.value || skipped.empty()) return 0;
  const Error error = make_error(Exit::unmet, "skipped_ops", settings.strict.origin,
                                 plural(skipped.size(), "op") + " skipped: " + join(skipped, ", "),
                                 "Leave out what cannot be built: --ops all,-" + join(skipped, ",-") + ".");
  if (!settings.json.value) print_message(render_error(error, style_for(settings, context, true)));
  return static_cast<int>(error.exit);
}

Path named_bundle(const Settings& settings, const CommandContext& context) {
  return context.line.operands.empty() ? settings.out.value : Path(context.line.operands.front());
}

Style style_for(const Settings& settings, const CommandContext& context, bool to_stderr) {
  const bool annotate = to_stderr && settings.annotations.value;
  if (settings.color.value != ColorMode::automatic)
    return {settings.color.value == ColorMode::always, annotate};
  return {to_stderr ? context.terminal.stderr_is_terminal : context.terminal.stdout_is_terminal, annotate};
}

std::string warnings_text(const std::vector<Warning>& warnings, const Settings& settings,
                          const CommandContext& context) {
  std::string text;
  if (settings.verbosity < 0 || settings.json.value) return text;  // JSON documents carry them
  for (const Warning& w : warnings)
    text += render_warning(w, style_for(settings, context, true));
  return text;
}

void print_warnings(const std::vector<Warning>& warnings, const Settings& settings,
                    const CommandContext& context) {
  print_message(warnings_text(warnings, settings, context));
}

}  // namespace dsbuild
