#include <cerrno>
#include <cstdio>

#include "command.h"
#include "report/table.h"
#include "sys/limits.h"

namespace dsbuild {

// Each in command_<name>.cpp.
CommandRow build_command();
CommandRow watch_command();
CommandRow plan_command();
CommandRow list_command();
CommandRow report_command();
CommandRow explain_command();
CommandRow inspect_command();
CommandRow verify_command();
CommandRow sign_command();
CommandRow sbom_command();
CommandRow diff_command();
CommandRow page_command();
CommandRow load_command();
CommandRow record_command();
CommandRow nvcc_command();
CommandRow wrap_command();
CommandRow wheel_command();
CommandRow install_command();
CommandRow toolkits_command();
CommandRow new_command();
CommandRow clean_command();
CommandRow cache_command();
CommandRow schema_command();
CommandRow help_command();
CommandRow completion_command();
CommandRow complete_command();
CommandRow action_command();
CommandRow open_library_command();

// The order is that of --help.
const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> table = {
      build_command(),    watch_command(),   plan_command(),        list_command(),     report_command(),
      explain_command(),  inspect_command(), verify_command(),      sign_command(),     sbom_command(),
      diff_command(),     page_command(),    load_command(),        record_command(),   nvcc_command(),
      wrap_command(),     wheel_command(),   install_command(),     toolkits_command(), new_command(),
      clean_command(),    cache_command(),   schema_command(),      help_command(),     completion_command(),
      complete_command(), action_command(),  open_library_command()};
  return table;
}

namespace {

bool write(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

std::string shown(std::string_view text, const Style& style) {
  std::string cleaned = visible(text, style.color ? Colours::kept : Colours::removed);
  return style.annotate ? cleaned : without_commands(cleaned);
}

}  // namespace

Result<void> print_result(std::string_view text, const Style& style) {
  return print_document(shown(wrapped_lines(text, style.columns), style));
}

Result<void> print_document(std::string_view text) {
  if (write(stdout, text)) return {};
  return io_error("stdout", "writing", errno);
}

void print_message(std::string_view text, const Style& style) {
  write(stderr, shown(text, style));
}

Result<void> print_done(const Settings& settings, const std::string& json, const std::string& text,
                        const Style& style) {
  if (settings.json.value) return print_result(json);
  return settings.verbosity < 0 ? Result<void>() : print_result(text, style);
}

void print_drawn(std::string_view line) {
  write(stderr, line);
}

void print_tool_output(std::string_view text) {
  write(stderr, printable(text, Colours::kept));
}

Result<Request> load_request(const CommandContext& context) {
  const System& system = context.system;
  DSBUILD_TRY(settings,
              load_settings(context.line.arguments, system.environment, system.files, context.data_dir));
  return Request{std::move(settings), context.line.as_typed};
}

int strict_exit(const ArchPlan& archs, const Settings& settings, const CommandContext& context) {
  const std::vector<std::string> skipped = archs.skipped();
  if (!settings.strict.value || skipped.empty()) return 0;
  const Error error = make_error(Exit::unmet, "skipped_ops", settings.strict.origin,
                                 plural(skipped.size(), "op") + " skipped: " + join(skipped, ", "),
                                 "Leave out what cannot be built: --ops all,-" + join(skipped, ",-") + ".");
  const Style style = style_for(settings, context, true);
  if (!settings.json.value) print_message(render_error(error, style), style);
  return static_cast<int>(error.exit);
}

int gate_exit(const Verdict& verdict, bool json, const Style& style) {
  for (const Error& failure : verdict.failures)
    if (!json) print_message(render_error(failure, style), style);
  return static_cast<int>(verdict.failures.empty() ? Exit::done : Exit::failed);
}

Result<std::vector<std::string>> command_to_run(const CommandLine& line) {
  if (line.operands.empty() && !line.program.empty()) return line.program;
  return fail(Exit::usage, "bad_option", line.command,
              line.operands.empty() ? "no command given"
                                    : "'" + printable(line.operands.front()) + "' stands before the --",
              "Usage: dsbuild " + line.command + " [OPTIONS] -- COMMAND…");
}

std::string name_of_folder(const Path& folder) {
  const Path path = folder.lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

Path temporary_parent(const Settings& settings) {
  const std::string named = settings.variable("TMPDIR");
  return named.empty() ? "/tmp" : named;
}

Path named_bundle(const Settings& settings, const CommandContext& context) {
  return context.line.operands.empty() ? settings.out.value : Path(context.line.operands.front());
}

Repository repository_of_pipeline(const System& system) {
  Repository repository{{}, system.files.absolute(".")};
  if (const std::string given = variable(system.environment, "GITHUB_WORKSPACE"); !given.empty()) {
    repository.root = given;
    return repository;
  }
  for (Path folder = repository.current; folder != folder.root_path(); folder = folder.parent_path())
    if (system.files.kind(folder / ".git") != FileKind::absent) {
      repository.root = folder;
      break;
    }
  return repository;
}

namespace {

Style style_on(const Terminal& terminal, ColorMode mode, bool to_stderr) {
  const bool is_terminal = to_stderr ? terminal.stderr_is_terminal : terminal.stdout_is_terminal;
  Style style;
  style.color = mode == ColorMode::always || (mode == ColorMode::automatic && is_terminal);
  style.columns = static_cast<size_t>(to_stderr ? terminal.stderr_columns : terminal.stdout_columns);
  return style;
}

}  // namespace

Style error_style(const std::optional<std::string>& color, const Terminal& terminal, const System& system) {
  Style style = style_on(terminal, load_color(color, system.environment).value, true);
  style.annotate = load_annotations(system.environment).value;
  if (style.annotate) style.repository = repository_of_pipeline(system);
  return style;
}

Style style_for(const Settings& settings, const CommandContext& context, bool to_stderr) {
  Style style = style_on(context.terminal, settings.color.value, to_stderr);
  if (settings.json.value) style.columns = 0;
  style.annotate = to_stderr && settings.annotations.value;
  if (style.annotate) style.repository = repository_of_pipeline(context.system);
  style.verbose = settings.verbosity > 0;
  return style;
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
  print_message(warnings_text(warnings, settings, context), style_for(settings, context, true));
}

}  // namespace dsbuild
