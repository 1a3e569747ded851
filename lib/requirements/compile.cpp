#include "requirements/compile.h"

#include <array>
#include <random>

#include "base/digest.h"

namespace dsbuild {
namespace {

// Random, so that two dsbuilds in one build folder never meet.
std::string fresh_folder_name() {
  static const char digits[] = "0123456789abcdef";
  std::random_device random;
  std::string name = "probe-";
  for (int i = 0; i < 12; ++i)
    name += digits[random() % 16];
  return name;
}

std::vector<std::string> trial_argv(const ProbeInput& input, const Trial& trial) {
  std::vector<std::string> argv{input.cxx->path.string()};
  argv.insert(argv.end(), trial.before.begin(), trial.before.end());
  argv.insert(argv.end(), {trial.file, "-o", "/dev/null"});
  argv.insert(argv.end(), trial.after.begin(), trial.after.end());
  return argv;
}

// A folder with the source and nothing else.
struct TrialFolder {
  Path path;
  bool is_kept;  // below the cache, by the source's digest: a null build asks the same again
};

// Where the cache cannot be written, the folder is a new one below the build folder: what is left there would
// make that look like another program's.
Result<TrialFolder> make_trial_folder(const ProbeInput& input, const Trial& trial) {
  FileSystem& files = input.system.files;
  const TrialFolder kept{files.absolute(input.settings.cache_dir / "probe" / sha256(trial.program)), true};
  const TrialFolder fresh{files.absolute(input.settings.build_dir.value / fresh_folder_name()), false};
  Result<void> made;
  for (const TrialFolder& folder : {kept, fresh}) {
    made = files.make_directories(folder.path);
    if (made) made = files.write_if_different(folder.path / trial.file, trial.program).map([](bool) {});
    if (made) return folder;
  }
  return tl::unexpected<Error>(made.error());
}

TrialResult start(const ProbeInput& input, const Trial& trial, const TrialFolder& folder) {
  Command command;
  command.argv = trial_argv(input, trial);
  command.env = tool_environment(input.system, input.toolkit);
  command.env.erase("TMPDIR");  // below the build folder, and that may not be there yet
  command.cwd = folder.path;
  command.is_question = folder.is_kept;
  const Result<ProcessResult> run = input.system.processes.run(command);
  if (!run) return {false, false, run.error().where + ": " + run.error().what};
  std::string text = printable(run->out + run->err);
  if (run->timed_out) text = "error: the compiler ran for too long\n" + text;
  return {true, run->ok(), text};
}

bool says_what_is_wrong(const std::string& line) {
  static const std::array<const char*, 4> signs{"error:", "undefined reference", "undefined symbol",
                                                "cannot find"};
  for (const char* sign : signs) {
    if (line.find(sign) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TrialResult run_trial(const ProbeInput& input, const Trial& trial) {
  const Result<TrialFolder> folder = make_trial_folder(input, trial);
  if (!folder) return {false, false, folder.error().where + ": " + folder.error().what};
  TrialResult result = start(input, trial, *folder);
  // Left behind where it cannot be removed: a stray folder must not fail a probe that succeeded.
  if (!folder->is_kept) static_cast<void>(input.system.files.remove_all(folder->path));
  return result;
}

std::string first_error_line(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  for (const std::string& line : lines) {
    if (says_what_is_wrong(line)) return trim(line);
  }
  for (const std::string& line : lines) {
    if (!trim(line).empty()) return trim(line);
  }
  return "the compiler failed without a word";
}

std::string trial_key(const ProbeInput& input, const Trial& trial) {
  const std::string command = shell_join(trial_argv(input, trial)) + "\n" + trial.program;
  return "trial " + trial.file + " " + subject_of(input) + " " + sha256(command);
}

}  // namespace dsbuild
