#include "command.h"
#include "driver/build_folder.h"
#include "driver/due_actions.h"
#include "driver/requested_gate.h"
#include "ninja/ninja_run.h"
#include "ninja/plain_ninja.h"
#include "project_pack.h"

namespace dsbuild {
namespace {

// Their names: they hold anything.
std::string handed_on_text(const System& system) {
  std::vector<std::string> names;
  for (const auto& [name, value] : handed_on_variables(system))
    names.push_back(name);
  return names.empty() ? "" : "Handed on to compilers: " + join(names, ", ") + "\n";
}

Result<int> show_plan(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  Session session(request.settings, context.system);
  if (!request.settings.variable("DSBUILD_NINJA").empty())  // nothing is run, but a build would end here
    DSBUILD_CHECK(find_ninja(request.settings, context.system, session.facts));
  DSBUILD_TRY(gate, requested_gate(request.settings, session.system));
  DSBUILD_TRY(plan, make_plan(std::move(request), session));
  DSBUILD_CHECK(check_gate(gate, plan));
  const Settings& settings = plan.settings();
  DSBUILD_CHECK(check_folders(settings, context.system.files));
  PlanView view = view_of(plan, removed_ops(plan, context.system.files));
  const std::string format = settings.json.value ? "json" : context.line.value("--format", "table");
  const Style style = style_for(settings, context, false);
  if (format == "json" || format == "table") view.forecast = forecast_of(plan, session);
  std::string text;
  if (format == "json") text = render_plan_json(view);
  if (format == "env") text = render_plan_env(view);
  if (format == "flags") text = render_plan_flags(view);
  if (format == "ninja") {
    DSBUILD_TRY(graph, render_plain_ninja(plan.graph, plan.sliced_commands));
    text = std::move(graph);
  }
  if (format == "compile_commands") text = compile_commands_of(plan);
  if (format == "table") {
    text = render_plan_table(view, style);
    if (settings.verbosity > 0)
      text += "\n" + render_settings(setting_rows(settings), style) + handed_on_text(session.system);
  }
  if (format != "json") print_warnings(plan.warnings, settings, context);
  // A graph is a program's: its names are what they are. A terminal is no program.
  const bool is_document = format == "ninja" && !context.terminal.stdout_is_terminal;
  DSBUILD_CHECK(is_document ? print_document(text) : print_result(text, format == "table" ? style : Style()));
  return strict_exit(plan.archs, settings, context);
}

Result<int> run_plan(const CommandContext& context) {
  DSBUILD_TRY(line, line_for_project(context));
  return show_plan({line, context.system, context.terminal, context.data_dir});
}

}  // namespace

CommandRow plan_command() {
  return {.name = "plan",
          .help = "Show what build would do and why",
          .run = run_plan,
          .examples = {{"dsbuild plan --ops all --arch 8.0,9.0a", "what would be built, dropped and why"},
                       {"dsbuild plan -v --ops all", "the same, with where each setting came from"},
                       {"dsbuild plan --ops all --format env",
                        "the archs as TORCH_CUDA_ARCH_LIST, for another build"},
                       {"dsbuild plan ./torch_scatter", "the same for a project with a setup.py"}},
          .options = {{.names = "--format",
                       .type = "table|json|env|flags|ninja|compile_commands",
                       .help = "Output format [table]"},
                      extensions_option()},
          .uses = {{"", topics_of_build()}},
          .operands = project_operand("plan")};
}

}  // namespace dsbuild
