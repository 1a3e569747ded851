#include "toolkit/toolkit.h"

#include "base/build_layout.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

constexpr const char* k_default_path = "/usr/local/bin:/usr/bin:/bin";

// What is relative to the current folder ("" is that folder) is another folder in each that tools run in.
std::string absolute_folders(const std::string& list) {
  std::vector<std::string> folders = split(list, ":;");
  std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });
  return join(folders, ":");
}

}  // namespace

Environment tool_environment(const Environment& caller, const Toolkit* toolkit) {
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
  return env;
}

Environment asking_environment(const System& system, const Toolkit* toolkit) {
  Environment environment = tool_environment(system.environment, toolkit);
  environment.erase("TMPDIR");
  return environment;
}

}  // namespace dsbuild
