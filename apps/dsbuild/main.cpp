// dsbuild: read the command line, run the command, print its error, exit with its code.
#include <algorithm>
#include <exception>

#include "command.h"
#include "sys/limits.h"
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

// Where no other command is named.
bool is_build(const Args& words) {
  return std::none_of(words.begin(), words.end(), [](const std::string& word) {
    return std::any_of(commands().begin(), commands().end(),
                       [&](const CommandRow& row) { return row.name == word && word != "build"; });
  });
}

// A message may repeat any word of the command line.
Error without_passwords(Error error, const Args& words) {
  for (const std::string& word : words) {
    const std::string shown = word.find("://") == std::string::npos ? word : without_password(word);
    if (shown == word) continue;
    for (std::string* text : {&error.where, &error.what, &error.fix})
      *text = replace_all(std::move(*text), word, shown);
  }
  return error;
}

// The last event of a build, the document of another command, or text.
int report_failure(const Error& failure, const Args& words, const Style& style) {
  const Error error = without_passwords(with_refusals(failure), words);
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  if (json)
    (void)print_result(is_build(words) ? render_unbuilt_json(error, {}, {}) : render_error_json(error));
  else
    print_message(render_error(error, style), style);
  return static_cast<int>(error.exit);
}

Result<int> run_command(const CommandLine& line, System& system) {
  const CommandContext context{line, system, read_terminal(), find_data_dir(system.files, system.program)};
  const auto row = std::find_if(commands().begin(), commands().end(),
                                [&](const CommandRow& r) { return line.command == r.name; });
  return row->run(context);
}

int run(int argc, const char* const* argv, const Args& words) {
  const Result<CommandLine> line = parse_command_line(argc, argv);
  const auto files = make_real_file_system();
  const bool is_action = line && line->command == "action";
  // Where Ninja is killed, nobody else would end its steps, and who waits for the folder would wait for them.
  if (is_action) end_with_parent();
  // Ninja ends a step by a signal to its group: the compilers must be in it, and not outlive the build.
  const auto processes = make_real_process_runner(is_action ? ChildGroup::ours : ChildGroup::own);
  System system{*files, *processes, read_environment(), files->real_path("/proc/self/exe").value_or(Path())};
  if (!line) return report_failure(line.error(), words, error_style({}, read_terminal(), system));
  if (line->answer) return print_result(*line->answer) ? 0 : static_cast<int>(Exit::failed);
  const Result<int> code = run_command(*line, system);
  if (code) return *code;
  return report_failure(code.error(), words,
                        error_style(line->arguments.find("--color"), read_terminal(), system));
}

}  // namespace
}  // namespace dsbuild

int main(int argc, char** argv) {
  using namespace dsbuild;
  const Result<void> limits = raise_own_limits();
  set_terminate_message();
  open_standard_descriptors();
  set_own_signals();
  const Args words(argv + 1, std::find(argv + std::min(argc, 1), argv + argc, std::string_view("--")));
  if (!limits) return report_failure(limits.error(), words, {});
  try {
    return run(argc, argv, words);
  } catch (const std::exception& fault) {
    return report_failure(error_of(fault), words, {});
  }
}
