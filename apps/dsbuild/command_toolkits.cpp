#include <algorithm>

#include "build/survey.h"
#include "command.h"

namespace dsbuild {
namespace {

Result<int> advise(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  Session session(settings, context.system);
  DSBUILD_TRY(machine, find_machine(settings, session));
  DSBUILD_TRY(selected, select_wanted(request, machine, session));
  const ToolkitDemand& demand = selected.demands.front();
  const ToolkitAdvice advice =
      advise_toolkit(settings, machine.toolkits, demand, selected.gpus, demand.is_needed);
  DSBUILD_CHECK(print_result(settings.json.value ? render_advice_json(advice) : advice_text(advice) + "\n"));
  return 0;
}

Result<void> check_can_be_fetched(const std::string& version) {
  const std::vector<FetchableCuda>& rows = fetchable_cuda();
  if (std::any_of(rows.begin(), rows.end(), [&](const FetchableCuda& row) { return row.version == version; }))
    return {};
  std::string fix;
  for (const FetchableCuda& row : rows)
    fix += std::string("dsbuild toolkits get ") + row.version + "   (for " + row.gpus + ")\n";
  return fail(Exit::usage, "bad_option", "toolkits get", "CUDA " + printable(version) + " cannot be fetched",
              fix + "or install it by hand, and name it: --cuda-home DIR (docs/toolkits.md)");
}

// The recipe publishes a toolkit whole or not at all, so a folder that is there needs no network.
Result<void> check_offline(const Settings& settings, const std::string& version, const FileReader& files) {
  const Path cached = settings.cache_dir / "toolkits" / version;
  if (!settings.offline.value || files.kind(cached) == FileKind::directory) return {};
  return fail(Exit::unmet, "offline", settings.offline.origin,
              "CUDA " + version + " is not in " + cached.string() + ", and offline nothing is fetched",
              "dsbuild toolkits get " + version +
                  "   (where there is a network; the folder can be copied)\n" +
                  "or install a toolkit by hand (docs/toolkits.md)");
}

// The recipe is a script, because it is apt, dpkg and pip that do the work.
Result<int> get(const CommandContext& context, const std::string& version) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_CHECK(check_can_be_fetched(version));
  DSBUILD_CHECK(check_offline(settings, version, context.system.files));
  const Path script = context.data_dir / "scripts" / "get_toolkit.sh";
  if (context.system.files.kind(script) != FileKind::file)
    return fail(Exit::unmet, "no_recipe", script.string(), "the recipe for toolkits is not installed",
                "Run it from a checkout of dsbuild, or install CUDA by hand (docs/toolkits.md).");
  const Command command{
      {script.string(), version}, context.system.environment, {}, std::chrono::seconds::zero()};
  DSBUILD_TRY(result,
              context.system.processes.run_on_terminal(
                  command, {}, [](std::string_view bytes) { print_message(bytes); }, [] { return true; }));
  return result.exit_code;
}

Result<int> run_toolkits(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (context.line.has("--for")) return advise(context);
  if (words.size() == 2 && words[0] == "get") return get(context, words[1]);
  if (!words.empty())
    return fail(Exit::usage, "bad_option", "toolkits", "not understood: " + shell_join(words),
                "dsbuild toolkits, or dsbuild toolkits get " + fetchable_cuda_text());
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  Session session(settings, context.system);
  DSBUILD_TRY(machine, find_machine(settings, session));
  DSBUILD_CHECK(print_result(settings.json.value
                                 ? render_toolkits_json(machine.toolkits)
                                 : render_toolkits(machine.toolkits, style_for(settings, context, false))));
  return 0;
}

}  // namespace

CommandRow toolkits_command() {
  return {.name = "toolkits",
          .help = "List the CUDA installations found; `get VERSION` fetches one",
          .run = run_toolkits,
          .examples = {{"dsbuild toolkits get 11.8", "CUDA 11.8 into your cache folder, for 7.0 and older"},
                       {"dsbuild toolkits", "the CUDA installations found"},
                       {"dsbuild toolkits --for --ops all --arch 7.0", "which toolkit that build takes"}},
          .options = {{.names = "--for", .help = "Say what it takes to build for the options given"}},
          .operands = Operands{"words", "get|" + fetchable_cuda_text(),
                               "`get 11.8`: fetch it into the user's cache folder"}};
}

}  // namespace dsbuild
