#include "sys/system.h"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

namespace dsbuild {

void open_standard_descriptors() {
  // open takes the lowest free number.
  int descriptor = ::open("/dev/null", O_RDONLY);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO)
    descriptor = ::open("/dev/null", O_RDONLY);
  if (descriptor >= 0) ::close(descriptor);
}

void set_own_signals() {
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Environment read_environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    // Of two entries with one name, getenv finds the first.
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::optional<Path> find_program(const FileReader& files, const std::string& name,
                                 const std::string& path_variable) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    return files.is_executable(name) ? std::optional<Path>(name) : std::nullopt;
  }
  // An empty entry would mean the current folder; nothing is run from there by accident.
  for (const std::string& folder : split(path_variable, ":")) {
    Path candidate = Path(folder) / name;
    if (files.is_executable(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<Path> find_program(const FileReader& files, const std::string& name,
                                 const Environment& environment) {
  return find_program(files, name, variable(environment, "PATH"));
}

std::optional<Path> find_program(const System& system, const std::string& name) {
  return find_program(system.files, name, system.environment);
}

std::vector<std::string> path_folders(const System& system) {
  return split(variable(system.environment, "PATH"), ":");
}

std::string values_of(const Environment& environment, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += variable(environment, name) + "\n";
  return text;
}

}  // namespace dsbuild
