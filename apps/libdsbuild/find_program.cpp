#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "program.h"

namespace dsbuild {
namespace {

using Path = std::filesystem::path;

constexpr const char* k_program_variable = "DSBUILD_PROGRAM";

bool is_program(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0;
}

// bin/dsbuild of the installation that has this library in lib/, lib64/ or lib/x86_64-linux-gnu/.
std::string beside_this_library() {
  static const char anchor = 0;
  Dl_info library{};
  if (::dladdr(&anchor, &library) == 0 || library.dli_fname == nullptr) return {};
  char* const real = ::realpath(library.dli_fname, nullptr);
  if (real == nullptr) return {};
  const Path folder = Path(real).parent_path();
  std::free(real);
  for (const Path& prefix : {folder.parent_path(), folder.parent_path().parent_path()})
    if (std::string program = prefix / "bin" / "dsbuild"; is_program(program)) return program;
  return {};
}

std::string on_path() {
  const char* const variable = std::getenv("PATH");
  std::string folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  folders += ":";
  for (size_t begin = 0, end; (end = folders.find(':', begin)) != std::string::npos; begin = end + 1) {
    const std::string folder = folders.substr(begin, end - begin);
    if (std::string program = folder + "/dsbuild"; !folder.empty() && is_program(program)) return program;
  }
  return {};
}

Result<std::string> checked(const std::string& program, const char* where) {
  if (is_program(program)) return program;
  return fail(Exit::unmet, "no_program", where, program + " is not a program",
              "Name dsbuild's program, or leave it out: then it is looked for.");
}

}  // namespace

Result<std::string> find_dsbuild(const char* named) {
  if (named != nullptr) return checked(named, "dsbuild_load_options.program");
  const char* const variable = std::getenv(k_program_variable);
  if (variable != nullptr && *variable != '\0') return checked(variable, k_program_variable);
  std::string found = beside_this_library();
  if (found.empty()) found = on_path();
  if (!found.empty()) return found;
  return fail(Exit::unmet, "no_program", k_program_variable,
              "the program dsbuild is neither in the installation of libdsbuild nor on PATH",
              "Install dsbuild, or set DSBUILD_PROGRAM to its path.");
}

}  // namespace dsbuild
