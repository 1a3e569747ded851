// record: which ops a program loads, and for which archs, so that a build can make them before its next
// start.
#include "command.h"
#include "load/load_record.h"
#include "next_build.h"
#include "sys/attached_process.h"
#include "sys/private_folder.h"

namespace dsbuild {
namespace {

constexpr const char* k_comment =
    "The ops that a program loaded (`dsbuild record`). To build exactly these: dsbuild --ops @FILE";

// What the file says already, where that is to be kept. Asked before the command runs, too: a mistake must
// not show after hours.
Result<Workload> known_workload(const Path& file, bool append, const FileReader& files) {
  const FileKind kind = files.kind(file);
  if (kind != FileKind::file && kind != FileKind::absent)
    return fail(Exit::usage, "bad_option", "--workload", "'" + printable(file.string()) + "' is not a file",
                "Give the path of a file, or leave the option out: workload.yaml.");
  if (const Path folder = files.absolute(file).parent_path(); files.kind(folder) != FileKind::directory)
    return fail(Exit::usage, "bad_option", "--workload",
                "there is no folder '" + printable(file.parent_path().string()) + "'",
                "Make it, or give another path.");
  if (kind == FileKind::absent || !append) return Workload{};
  DSBUILD_TRY(text, files.read_file(file));
  return read_workload(text, file.string());
}

// An error holds what was noted, which may have taken hours.
Result<void> write_workload(const Path& file, const Workload& workload, FileSystem& files) {
  const std::string text = render_workload(workload, k_comment);
  const auto written = files.write_file(file, text);
  if (written) return {};
  Error error = written.error();
  error.fix = "This is what was to be written:\n" + text.substr(0, text.size() - 1);
  return tl::unexpected<Error>(error);
}

Result<int> run_record(const CommandContext& context) {
  DSBUILD_TRY(argv, command_to_run(context.line));
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  const Path file = context.line.value("--workload", "workload.yaml");
  const bool append = context.line.has("--append");
  DSBUILD_TRY(known, known_workload(file, append, files));
  DSBUILD_TRY(notes, PrivateFolder::make(temporary_parent(settings), files));
  Command command;
  command.argv = argv;
  command.env = context.system.environment;
  command.env["DSBUILD_RECORD"] = notes.path().string();
  DSBUILD_TRY(code, run_attached(command));
  DSBUILD_TRY(noted, read_notes(notes.path(), files));
  const std::string written = noted.packs.empty() ? "" : file.string();
  if (!written.empty()) {
    Workload workload = known_workload(file, append, files).value_or(known);
    workload.add(noted);
    DSBUILD_CHECK(write_workload(file, workload, files));
  }
  if (settings.verbosity >= 0 && !settings.json.value)
    print_message(
        render_recorded(noted, written, builds_of_workload(noted, written, settings, context.system)));
  if (settings.json.value) DSBUILD_CHECK(print_result(render_recorded_json(noted, written, code)));
  return code;
}

}  // namespace

CommandRow record_command() {
  return {.name = "record",
          .help = "Run a command and write down which ops it loads",
          .run = run_record,
          .examples = {{"dsbuild record -- python3 serve.py", "then: dsbuild --ops @workload.yaml"},
                       {"dsbuild record --append -- python3 serve.py", "add to what was recorded before"}},
          .options = {{.names = "--workload", .type = "FILE", .help = "The file [workload.yaml]"},
                      {.names = "--append", .help = "Keep what the file has already"}},
          .operands = Operands{"command", "-- COMMAND", "The command, with its own options"}};
}

}  // namespace dsbuild
