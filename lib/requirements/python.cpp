#include "requirements/python.h"

#include <array>

namespace dsbuild {
namespace {

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

// What decides which modules python3 sees, besides the program itself.
std::string python_identity(const System& system, const Path& python) {
  static const std::array<const char*, 5> variables{"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV",
                                                    "PYENV_VERSION", "HOME"};
  std::string text = program_identity(system.files, python);
  for (const char* name : variables)
    text += "\n" + variable(system.environment, name);
  return text;
}

tl::unexpected<Error> no_answer(std::string why) {
  return fail(Exit::unmet, "python", "python3", std::move(why));
}

}  // namespace

std::optional<Path> find_python(const System& system) {
  const auto python = find_program(system.files, "python3", variable(system.environment, "PATH"));
  if (!python) return std::nullopt;
  return system.files.absolute(*python);
}

Result<Witnessed> ask_python(System& system, FactStore& facts, const std::string& key,
                             const std::string& script, const std::string& argument) {
  const std::optional<Path> python = find_python(system);
  if (!python) return no_answer("no python3 on PATH");
  const std::string identity = python_identity(system, *python);
  if (const auto known = recall(system.files, facts, key, identity)) return *known;

  // In "/", so that nothing of the current folder is taken for a module.
  const Command command{{python->string(), "-c", script, argument}, system.environment, "/"};
  const Result<ProcessResult> run = system.processes.run(command);
  if (!run) return no_answer("python3 could not be started: " + run.error().what);
  if (run->timed_out) return no_answer("python3 ran for too long");
  const std::vector<std::string> lines = split_lines(printable(run->out));
  if (run->exit_code == 1 && lines.size() == 1) return no_answer(lines[0]);
  if (!run->ok() || lines.empty()) {
    const std::vector<std::string> errors = split_lines(trim(printable(run->err)));
    return no_answer("python3 failed: " +
                     (errors.empty() ? "exit " + std::to_string(run->exit_code) : errors.back()));
  }
  Witnessed found{lines[0], lines.size() > 1 ? lines[1] : ""};
  if (!found.file.empty()) remember(system.files, facts, key, identity, found);
  return found;
}

Result<Witnessed> find_python_version(System& system, FactStore& facts) {
  static const char script[] =
      "import platform, sys; print(platform.python_version()); print(sys.executable)";
  return ask_python(system, facts, "python version", script, "");
}

Result<Witnessed> find_torch(System& system, FactStore& facts) {
  static const char script[] = R"(
import importlib.metadata, sys
try:
    torch = importlib.metadata.distribution(sys.argv[1])
except importlib.metadata.PackageNotFoundError:
    print("no Python package " + sys.argv[1])
    sys.exit(1)
print(torch.version)
print(torch.locate_file("torch/version.py"))
)";
  return ask_python(system, facts, "python package torch", script, "torch");
}

}  // namespace dsbuild
