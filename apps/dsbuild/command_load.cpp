// load: the library of an op that fits this machine, prebuilt or built on the spot.
#include "command.h"
#include "load/load_op.h"
#include "load/load_record.h"
#include "ninja/progress.h"
#include "show_events.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// Loading is not building: what goes on is said only where it takes a while.
class LoadEvents : public ShownEvents {
 public:
  LoadEvents(const Settings& settings, const CommandContext& context, std::string op)
      : ShownEvents(settings, context), op_(std::move(op)) {}

  void on_plan(const Plan& plan, const std::vector<std::string>& /*removed*/) override {
    if (!plan.archs.requested.empty()) archs_ = " for " + arch_text(plan.archs.requested);
  }
  void on_graph_begins(RunEstimate& /*estimate*/) override { begin_ = Clock::now(); }
  void on_edge(const EdgeEvent& /*event*/) override {}
  void on_diagnostic(const ToolDiagnostic& told) override {
    if (told.diagnostic.severity == Severity::error) print_message(render_diagnostic(told, style()), style());
  }
  void on_tick() override {
    if (is_said_ || Clock::now() - begin_ < std::chrono::seconds(1)) return;
    is_said_ = true;
    print_message("dsbuild: building " + op_ + archs_ + "\n");
  }
  void on_graph_ends() override {
    if (!is_said_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    print_message("dsbuild: " + op_ + " took " + seconds_text(seconds) + "\n");
  }
  void on_warning(const Warning& /*warning*/) override {}
  void on_note(const std::string& /*line*/) override {}
  void on_message(const std::string& line) override { print_message("dsbuild: " + line + "\n"); }

 private:
  const std::string op_;
  std::string archs_;
  Clock::time_point begin_;
  bool is_said_ = false;
};

// What CUDA says of a GPU, in a program that asks for it there: one that is newer than this program too.
std::optional<std::vector<Target>> capabilities_in(const std::string& text) {
  std::vector<Target> gpus;
  for (const std::string& word : split(text, ",")) {
    const auto gpu = parse_target(word);
    if (!gpu || gpu->text() != word) return std::nullopt;
    gpus.push_back(*gpu);
  }
  return gpus;
}

Result<VisibleGpus> gpus_for(const CommandContext& context, const Settings& settings, FactStore& facts) {
  VisibleGpus gpus = find_visible_gpus(settings, context.system, facts);
  const std::string& named = settings.gpus.value;
  if (named.empty()) return gpus;
  std::optional<std::vector<Target>> asked = capabilities_in(named);
  if (!asked) {
    DSBUILD_TRY(parsed, parse_gpus(named, settings.gpus.origin, gpus.archs));
    asked = std::move(parsed);
  }
  gpus.archs = std::move(*asked);
  return gpus;
}

// An op that cannot be noted can be used all the same.
void note(const LoadRequest& request, const LoadedOp& loaded, FileSystem& files) {
  const auto noted = note_load(request, loaded, files);
  if (!noted)
    print_message("dsbuild: DSBUILD_RECORD: " + loaded.op.name + " is not noted: " + noted.error().where +
                  ": " + noted.error().what + "\n");
}

Result<int> run_load(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "load", "no op given", "Usage: dsbuild load [PACK/]OP");
  DSBUILD_TRY(request, load_request(context));
  const std::string op = take_pack(context.line.operands.front(), request.settings);
  LoadEvents events(request.settings, context, op);
  Session session(request.settings, context.system, events);
  DSBUILD_TRY(gpus, gpus_for(context, request.settings, session.facts));
  LoadRequest load;
  load.only_build = context.line.has("--build");
  load.path = context.line.value("--path");
  for (const std::string& folder : split(context.line.value("--installed"), ":"))
    load.installed.emplace_back(folder);
  load.machine = {std::move(gpus), read_host(context.system.files).cpu_features};
  const bool json = request.settings.json.value;
  load.op = op;
  load.request = std::move(request);
  DSBUILD_TRY(loaded, load_op(load, session));
  note(load, loaded, context.system.files);
  session.digests.save();
  session.facts.save();
  for (const std::string& reason : loaded.passed_over)
    print_message("dsbuild: " + reason + "; " +
                  (loaded.from == "built" ? "it is built for this machine" : loaded.from + " is taken") +
                  "\n");
  DSBUILD_CHECK(print_result(json ? render_loaded_json(loaded) : render_loaded(loaded)));
  return 0;
}

}  // namespace

CommandRow load_command() {
  return {
      .name = "load",
      .help = "Print the path of an op's library that runs here, or build it",
      .run = run_load,
      .examples = {{"dsbuild load fused_adam", "the library of an op for this machine's GPUs"},
                   {"dsbuild load deepspeed/fused_adam --json",
                    "the same for a different pack, with details as JSON"}},
      .options = {{.names = "--path",
                   .type = "FILE|DIR",
                   .help = "Use this bundle, or this library of a bundle, if it fits"},
                  {.names = "--build", .help = "Build the op for this machine, even if a library fits"},
                  {.names = "--installed",
                   .type = "DIRS",
                   .help =
                       "Bundles installed as wheels, separated by colons; searched after DSBUILD_BUNDLE"}},
      .uses = {{"",
                {Topic::archs, Topic::pack, Topic::source, Topic::cuda, Topic::other_toolkits, Topic::python,
                 Topic::cores, Topic::compile, Topic::proof, Topic::tool_environment, Topic::offline,
                 Topic::digests, Topic::cache, Topic::cache_size, Topic::trust, Topic::lock,
                 Topic::shared_cache, Topic::scope, Topic::gpus}}},
      .operands = Operands{"op", "[PACK/]OP", "The op", 1},
      .reads_project_file = false};
}

}  // namespace dsbuild
