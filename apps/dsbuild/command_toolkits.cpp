#include "stages.h"

namespace dsbuild {
namespace {

Result<int> advise(const CommandContext& context) {
  DSBUILD_TRY(base, load_base(context));
  DSBUILD_TRY(selected, load_selected(context, base));
  const ToolkitAdvice advice =
      advise_toolkit(base.settings, base.toolkits, selected.demand, selected.gpus, selected.needs_toolkit);
  DSBUILD_CHECK(print_result(base.settings.json.value ? render_advice_json(advice)
                                                      : std::string(advice_word(advice)) + "\n"));
  return 0;
}

// The recipe is a script, because it is apt, dpkg and pip that do the work.
Result<int> get(const CommandContext& context, const std::string& version) {
  if (context.line.arguments.offline)
    return fail(Exit::unmet, "offline", "--offline", "fetching CUDA " + version + " needs the network",
                "Leave --offline out, or install a toolkit by hand (docs/toolkits.md).");
  const Path script = context.data_dir / "scripts" / "get_toolkit.sh";
  if (context.system.files.kind(script) != FileKind::file)
    return fail(Exit::unmet, "no_recipe", script.string(), "the recipe for toolkits is not installed",
                "Run it from a checkout of dsbuild, or install CUDA by hand (docs/toolkits.md).");
  const Command command{
      {script.string(), version}, context.system.environment, {}, std::chrono::seconds::zero()};
  DSBUILD_TRY(result, context.system.processes.run_on_terminal(
                          command, {}, [](std::string_view bytes) { print_message(bytes); }, [] {}));
  return result.exit_code;
}

}  // namespace

Result<int> run_toolkits(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (context.line.for_request) return advise(context);
  if (words.size() == 2 && words[0] == "get") return get(context, words[1]);
  if (!words.empty())
    return fail(Exit::usage, "bad_option", "toolkits", "not understood: " + shell_join(words),
                "dsbuild toolkits, or dsbuild toolkits get 11.8|13.5");
  DSBUILD_TRY(base, load_base(context));
  DSBUILD_CHECK(print_result(base.settings.json.value
                                 ? render_toolkits_json(base.toolkits)
                                 : render_toolkits(base.toolkits, style_for(base.settings, context, false))));
  return 0;
}

}  // namespace dsbuild
