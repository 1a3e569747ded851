// dsbuild: read the command line, run the command, print its error, exit with its code.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "command.h"
#include "sys/parent.h"
#include "sys/system.h"
#include "sys/terminal.h"

namespace dsbuild {
namespace {

// share/dsbuild of the installation that this program belongs to, or the checkout it was built in: the
// nearest folder above it that holds the ops.
Path find_data_dir(const FileReader& files, const Path& program) {
  for (Path folder = program.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
    Path share = folder / "share" / "dsbuild";
    if (files.kind(share / "ops") == FileKind::directory) return share;
    if (files.kind(folder / "ops" / "native") == FileKind::directory) return folder;
  }
  return {};
}

// An error may come before there are settings.
Style error_style(const std::optional<std::string>& color, const Environment& environment) {
  const bool annotate = load_annotations(environment).value;
  if (color == "always") return {true, annotate};
  const auto no_color = environment.find("NO_COLOR");
  const bool plain = color == "never" || (no_color != environment.end() && !no_color->second.empty());
  return {!plain && read_terminal().stderr_is_terminal, annotate};
}

int report_failure(const Error& error, bool json, const Style& style) {
  if (json)
    (void)print_result(render_error_json(error));
  else
    print_message(render_error(error, style));
  return static_cast<int>(error.exit);
}

Result<int> run_command(const CommandLine& line, System& system) {
  const CommandContext context{line, system, read_terminal(), find_data_dir(system.files, system.program)};
  const auto row = std::find_if(commands().begin(), commands().end(),
                                [&](const CommandRow& r) { return line.command == r.name; });
  return row->run(context);
}

int run(int argc, const char* const* argv) {
  const auto is_word = [](std::string_view wanted) {
    return [wanted](const char* word) { return std::string_view(word) == wanted; };
  };
  const bool json = std::any_of(argv, std::find_if(argv, argv + argc, is_word("--")), is_word("--json"));
  const Environment environment = read_environment();
  const Result<CommandLine> line = parse_command_line(argc, argv);
  if (!line) return report_failure(line.error(), json, error_style({}, environment));
  if (line->answer) return print_result(*line->answer) ? 0 : static_cast<int>(Exit::failed);
  const auto files = make_real_file_system();
  // Where Ninja is killed, nobody else would end its steps, and who waits for the folder would wait for them.
  if (line->command == "action") end_with_parent();
  // Ninja ends a step by a signal to its group: the compilers must be in it, and not outlive the build.
  const auto processes =
      make_real_process_runner(line->command == "action" ? ChildGroup::ours : ChildGroup::own);
  System system{*files, *processes, environment, files->real_path("/proc/self/exe").value_or(Path())};
  const Result<int> code = run_command(*line, system);
  return code ? *code
              : report_failure(code.error(), json, error_style(line->arguments.find("--color"), environment));
}

}  // namespace
}  // namespace dsbuild

int main(int argc, char** argv) {
  dsbuild::open_standard_descriptors();
  dsbuild::set_own_signals();
  try {
    return dsbuild::run(argc, argv);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "dsbuild: internal error: %s\n  fix: please report it with the command line\n",
                 fault.what());
    return static_cast<int>(dsbuild::Exit::internal);
  }
}
