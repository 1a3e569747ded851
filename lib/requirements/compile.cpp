#include "requirements/compile.h"

#include <array>
#include <random>

#include "requirements/witness.h"

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

std::vector<std::string> trial_argv(const ProbeInput& input, const Trial& trial, const Path& folder) {
  std::vector<std::string> argv{input.cxx->path.string()};
  argv.insert(argv.end(), trial.before.begin(), trial.before.end());
  argv.insert(argv.end(), {(folder / trial.file).string(), "-o", (folder / "out").string()});
  argv.insert(argv.end(), trial.after.begin(), trial.after.end());
  return argv;
}

TrialResult start(const ProbeInput& input, const Trial& trial, const Path& build_dir, const Path& folder) {
  Command command;
  command.argv = trial_argv(input, trial, folder);
  command.env = tool_environment(input.system.environment, input.toolkit);
  command.env["TMPDIR"] = (build_dir / folder).string();
  command.cwd = build_dir;
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
  FileSystem& files = input.system.files;
  const Path build_dir = files.absolute(input.settings.build_dir.value);
  const Path folder = fresh_folder_name();
  Result<void> made = files.make_directories(build_dir / folder);
  if (made) made = files.write_file(build_dir / folder / trial.file, trial.program);
  TrialResult result;
  if (made) {
    result = start(input, trial, build_dir, folder);
  } else {
    result.text = made.error().where + ": " + made.error().what;
  }
  // Left behind where it cannot be removed: a stray folder must not fail a probe that succeeded.
  static_cast<void>(files.remove_all(build_dir / folder));
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

std::string trial_identity(const ProbeInput& input, const Trial& trial) {
  return program_identity(input.system.files, input.cxx->path) + "\n" + shell_join(trial.before) + "\n" +
         trial.program + "\n" + shell_join(trial.after);
}

Finding no_compiler(const ProbeInput& input) {
  return unmet(input, "no C++ compiler found", "install g++ or clang++, or name one in CXX");
}

}  // namespace dsbuild
