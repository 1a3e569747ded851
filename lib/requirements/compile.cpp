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
  argv.insert(argv.end(), {trial.file, "-o", "out"});
  argv.insert(argv.end(), trial.after.begin(), trial.after.end());
  return argv;
}

// A new folder that holds the source. The cache comes first: something left in a build folder by a
// killed probe would make that folder look like another program's.
Result<Path> make_trial_folder(const ProbeInput& input, const Trial& trial) {
  FileSystem& files = input.system.files;
  const std::string name = fresh_folder_name();
  Result<void> made;
  for (const Path& parent : {input.settings.cache_dir / "probe", input.settings.build_dir.value}) {
    Path folder = files.absolute(parent / name);
    made = files.make_directories(folder);
    if (made) made = files.write_file(folder / trial.file, trial.program);
    if (made) return folder;
  }
  return tl::unexpected<Error>(made.error());
}

TrialResult start(const ProbeInput& input, const Trial& trial, const Path& folder) {
  Command command;
  command.argv = trial_argv(input, trial);
  command.env = tool_environment(input.system, input.toolkit);
  command.env["TMPDIR"] = folder.string();
  command.cwd = folder;
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
  const Result<Path> folder = make_trial_folder(input, trial);
  if (!folder) return {false, false, folder.error().where + ": " + folder.error().what};
  TrialResult result = start(input, trial, *folder);
  // Left behind where it cannot be removed: a stray folder must not fail a probe that succeeded.
  static_cast<void>(input.system.files.remove_all(*folder));
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
