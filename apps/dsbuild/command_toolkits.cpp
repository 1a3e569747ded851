#include "command.h"
#include "driver/survey.h"
#include "toolkit/fetchable.h"

namespace dsbuild {
namespace {

// Of all vendors' GPUs: what is to be got for any of them ("13.5 hip"); impossible where one is.
ToolkitAdvice advise_toolkits(const Settings& settings, const Toolkits& toolkits,
                              const std::vector<ToolkitDemand>& demands, const std::vector<Target>& gpus) {
  using Kind = ToolkitAdvice::Kind;
  ToolkitAdvice all{Kind::none_needed, ""};
  for (const ToolkitDemand& demand : demands) {
    const ToolkitAdvice one = advise_toolkit(settings, toolkits, demand, gpus, demand.is_needed);
    if (one.kind == Kind::impossible) return one;
    all.kind = std::max(all.kind, one.kind);
    if (one.kind == Kind::get) all.version += (all.version.empty() ? "" : " ") + one.version;
  }
  return all;
}

Result<int> advise(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  Session session(settings, context.system);
  DSBUILD_TRY(machine, find_machine(settings, session));
  DSBUILD_TRY(selected, select_wanted(request, machine, session));
  const ToolkitAdvice advice = advise_toolkits(settings, machine.toolkits, selected.demands, selected.gpus);
  DSBUILD_CHECK(print_result(settings.json.value ? render_advice_json(advice) : advice_text(advice) + "\n"));
  return 0;
}

Result<const FetchableToolkit*> fetchable_of(const std::string& word) {
  std::string fix;
  for (const FetchableToolkit& row : fetchable_toolkits()) {
    if (row.word == word) return &row;
    fix += std::string("dsbuild toolkits get ") + row.word + "   (" + row.name + ", for " + row.gpus + ")\n";
  }
  return fail(
      Exit::usage, "bad_option", "toolkits get", printable(word) + " cannot be fetched",
      fix + "or install it by hand, and name it: --cuda-home DIR, --rocm-home DIR (docs/guides/toolkits.md)");
}

// The recipe publishes a toolkit whole or not at all, so a folder that is there needs no network.
Result<void> check_offline(const Settings& settings, const FetchableToolkit& toolkit,
                           const FileReader& files) {
  const Path cached = settings.cache_dir / "toolkits" / toolkit.folder;
  if (!settings.offline.value || files.kind(cached) == FileKind::directory) return {};
  return fail(
      Exit::unmet, "offline", settings.offline.origin,
      std::string(toolkit.name) + " is not in " + cached.string() + ", and offline nothing is fetched",
      std::string("dsbuild toolkits get ") + toolkit.word +
          "   (where there is a network; the folder can be copied)\n" +
          "or install a toolkit by hand (docs/guides/toolkits.md)");
}

// The recipe is a script, because it is apt, dpkg and pip that do the work.
// A program's lines as they come; one that it draws again and again is shown each time.
class ShownLines {
 public:
  ~ShownLines() { feed("\n"); }

  void feed(std::string_view bytes) {
    for (const char c : bytes)
      if (c == '\n' || c == '\r')
        end_line();
      else
        line_ += c;
  }

 private:
  void end_line() {
    if (!line_.empty()) print_tool_output(line_ + "\n");
    line_.clear();
  }

  std::string line_;
};

Result<int> get(const CommandContext& context, const std::string& word) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(toolkit, fetchable_of(word));
  DSBUILD_CHECK(check_offline(settings, *toolkit, context.system.files));
  const Path script = context.data_dir / "scripts" / "get_toolkit.sh";
  if (context.system.files.kind(script) != FileKind::file)
    return fail(
        Exit::unmet, "no_recipe", script.string(), "the recipe for toolkits is not installed",
        "Run it from a checkout of dsbuild, or install the toolkit by hand (docs/guides/toolkits.md).");
  const Command command{
      {script.string(), word}, context.system.environment, {}, std::chrono::seconds::zero()};
  ShownLines lines;
  DSBUILD_TRY(result,
              context.system.processes.run_on_terminal(
                  command, {}, [&](std::string_view bytes) { lines.feed(bytes); }, [] { return true; }));
  return result.exit_code;
}

Result<int> run_toolkits(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (context.line.has("--for")) return advise(context);
  if (words.size() == 2 && words[0] == "get") return get(context, words[1]);
  if (!words.empty())
    return fail(Exit::usage, "bad_option", "toolkits", "not understood: " + shell_join(words),
                "Usage: dsbuild toolkits [get " + fetchable_words() + "]");
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  Session session(settings, context.system);
  DSBUILD_TRY(machine, find_machine(settings, session));
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(
      settings.json.value ? render_toolkits_json(machine.toolkits) : render_toolkits(machine.toolkits, style),
      style));
  return 0;
}

}  // namespace

CommandRow toolkits_command() {
  return {.name = "toolkits",
          .help = "List the CUDA and ROCm installations found; `get` fetches one",
          .run = run_toolkits,
          .examples = {{"dsbuild toolkits get 11.8", "CUDA 11.8 into your cache folder, for 7.0 and older"},
                       {"dsbuild toolkits get hip", "a HIP toolkit into your cache folder, for AMD's GPUs"},
                       {"dsbuild toolkits", "the CUDA and ROCm installations found"},
                       {"dsbuild toolkits --for --ops all --arch 7.0", "which toolkit that build takes"}},
          .options = {{.names = "--for", .help = "Say what it takes to build for the options given"}},
          .uses = {{"",
                    {Topic::cuda, Topic::other_toolkits, Topic::python, Topic::tool_environment,
                     Topic::digests, Topic::cache, Topic::cache_size, Topic::trust}},
                   {"get", {Topic::offline}},
                   {"--for", topics_of_build()}},
          .operands = Operands{"words", "get|" + fetchable_words(),
                               "`get 11.8`: fetch it into the user's cache folder"}};
}

}  // namespace dsbuild
