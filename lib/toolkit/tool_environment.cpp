#include <algorithm>
#include <array>

#include "base/build_layout.h"
#include "base/digest.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

constexpr const char* k_default_path = "/usr/local/bin:/usr/bin:/bin";

// The one list of what is handed on unasked. gcc's (its manual, "Environment Variables Affecting GCC") and
// GNU ld's, which clang reads too; then those of the wrappers of Spack, Nix and ccache.
constexpr std::array k_lists_of_folders = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
                                           "COMPILER_PATH"};
constexpr const char* k_prefix_of_programs = "GCC_EXEC_PREFIX";
constexpr std::array k_of_others = {"SOURCE_DATE_EPOCH", "SPACK_*", "NIX_*", "CCACHE_*"};

bool is_meant(const std::string& name, const std::string& by) {
  return by.ends_with('*') ? name.starts_with(by.substr(0, by.size() - 1)) : name == by;
}

template <typename Names>
bool is_among(const std::string& name, const Names& names) {
  return std::ranges::any_of(names, [&](const std::string& by) { return is_meant(name, by); });
}

// What is relative to the current folder ("" is that folder) is another folder in each that tools run in.
std::string absolute_folders(const std::string& list) {
  std::vector<std::string> folders = split(list, ":;");
  std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });
  return join(folders, ":");
}

// What tools get of it; "": nothing.
std::string handed_on_as(const std::string& name, const std::string& value) {
  if (is_among(name, k_lists_of_folders)) return absolute_folders(value);
  return name == k_prefix_of_programs && !value.starts_with('/') ? "" : value;
}

}  // namespace

Environment handed_on_variables(const System& system) {
  Environment found;
  for (const auto& [name, value] : system.environment) {
    const bool is_listed = is_among(name, k_lists_of_folders) || name == k_prefix_of_programs ||
                           is_among(name, k_of_others) || is_among(name, system.tools.passed);
    std::string given = is_listed ? handed_on_as(name, value) : "";
    if (!given.empty()) found.emplace(name, std::move(given));
  }
  return found;
}

std::string text_of_variables(const System& system) {
  std::string text;
  for (const auto& [name, value] : handed_on_variables(system))
    text += sha256(value) + " variable " + name + "\n";
  return text;
}

Environment tool_environment(const System& system, const Toolkit* toolkit) {
  const Environment& caller = system.environment;
  // TMPDIR is relative to the build folder, so that the temporaries of a killed build lie where clean
  // finds them; nvcc and gcc look it up from the folder they run in.
  Environment env = {{"LC_ALL", "C"}, {"TMPDIR", k_tool_tmp_dir}};
  for (const char* name : {"HOME", "PATH"}) {
    const auto found = caller.find(name);
    if (found != caller.end()) env.insert(*found);
  }
  const std::string folders = absolute_folders(variable(caller, k_library_path));
  if (!folders.empty()) env[k_library_path] = folders;
  std::string& path = env["PATH"];
  if (path.empty()) path = k_default_path;
  if (toolkit) path = toolkit->compiler().parent_path().string() + ":" + path;
  env.merge(handed_on_variables(system));
  return env;
}

Path asking_folder(const System& system) {
  Path folder = system.tools.folder;
  while (folder.has_relative_path() && system.files.kind(folder) != FileKind::directory)
    folder = folder.parent_path();
  return folder;
}

Command question_to_tool(std::vector<std::string> argv, Environment environment, const System& system,
                         std::chrono::seconds timeout) {
  return {std::move(argv), std::move(environment), asking_folder(system), timeout, false, true};
}

Environment asking_environment(const System& system, const Toolkit* toolkit) {
  Environment environment = tool_environment(system, toolkit);
  environment.erase("TMPDIR");
  return environment;
}

}  // namespace dsbuild
