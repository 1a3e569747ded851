#include "requirements/python.h"

#include <array>

namespace dsbuild {
namespace {

// What decides which modules Python sees, besides the program itself.
std::string python_identity(const System& system, const Path& python) {
  return program_identity(system.files, python) + "\n" +
         values_of(system.environment, {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYENV_VERSION", "HOME"});
}

tl::unexpected<Error> no_answer(const Interpreter& python, std::string why) {
  return fail(Exit::unmet, "python", python.program, std::move(why));
}

std::string why_not_found(const std::string& program) {
  return program.find('/') == std::string::npos ? "no " + program + " on PATH"
                                                : "no program " + printable(program);
}

Result<FileBackedFact> read_answer(const Interpreter& python, const Result<ProcessResult>& run) {
  const std::string& name = python.program;
  if (!run) return no_answer(python, name + " could not be started: " + run.error().what);
  if (run->timed_out) return no_answer(python, name + " ran for too long");
  const std::vector<std::string> lines = split_lines(printable(run->out));
  if (run->exit_code == 1 && lines.size() == 1) return no_answer(python, lines[0]);
  if (run->ok() && !lines.empty()) return FileBackedFact{lines[0], lines.size() > 1 ? lines[1] : ""};
  const std::vector<std::string> errors = split_lines(trim(printable(run->err)));
  const std::string reason = errors.empty() ? "exit " + std::to_string(run->exit_code) : errors.back();
  return no_answer(python, name + " failed: " + reason);
}

}  // namespace

const char* const k_facts_prelude = R"(
import platform, sys, sysconfig
facts = {
    "version": platform.python_version(),
    "executable": sys.executable,
    "tag": ("cp" if sys.implementation.name == "cpython" else sys.implementation.name)
           + str(sysconfig.get_config_var("py_version_nodot")) + getattr(sys, "abiflags", ""),
    "ext_suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
    "include_dir": sysconfig.get_path("include", "posix_prefix") or "",
    "prefix": sys.prefix,
}
def tell(file):
    print("\t".join(key + "=" + value for key, value in facts.items()))
    print(file)
)";

std::optional<Path> Interpreter::find() const {
  const auto found = find_program(system, program);
  if (!found) return std::nullopt;
  return system.files.absolute(*found);
}

Result<FileBackedFact> ask_python(const Interpreter& python, const std::string& key,
                                  const std::string& script, const std::string& argument) {
  System& system = python.system;
  const std::optional<Path> program = python.find();
  if (!program) return no_answer(python, why_not_found(python.program));
  const std::string identity = python_identity(system, *program);
  if (const auto known = recall(system.files, python.facts, key, identity)) return *known;

  // In "/", so that nothing of the current folder is taken for a module.
  Command command{{program->string(), "-c", script, argument}, system.environment, "/"};
  command.is_question = true;
  DSBUILD_TRY(found, read_answer(python, system.processes.run(command)));
  if (!found.file.empty()) remember(system.files, python.facts, key, identity, found);
  return found;
}

std::map<std::string, std::string> read_facts(const std::string& answer) {
  std::map<std::string, std::string> facts;
  for (const std::string& word : split(answer, "\t")) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos) facts[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return facts;
}

Python read_python(const std::map<std::string, std::string>& facts) {
  const auto fact = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? "" : found->second;
  };
  return {fact("version"),    fact("executable"),  fact("tag"),
          fact("ext_suffix"), fact("include_dir"), fact("prefix")};
}

Result<Python> find_python(const Interpreter& python) {
  DSBUILD_TRY(answer,
              ask_python(python, "python, 2", std::string(k_facts_prelude) + "tell(sys.executable)\n", ""));
  return read_python(read_facts(answer.answer));
}

Result<Path> find_platlib(const Interpreter& python) {
  DSBUILD_TRY(answer,
              ask_python(python, "platlib", "import sysconfig; print(sysconfig.get_path('platlib'))\n", ""));
  return Path(answer.answer);
}

}  // namespace dsbuild
