#include "toolkit/toolkit.h"

#include "base/build_layout.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

constexpr const char* k_default_path = "/usr/local/bin:/usr/bin:/bin";

}  // namespace

Environment tool_environment(const Environment& caller, const Toolkit* toolkit) {
  // TMPDIR is relative to the build folder, so that the temporaries of a killed build lie where clean
  // finds them; nvcc and gcc look it up from the folder they run in.
  Environment env = {{"LC_ALL", "C"}, {"TMPDIR", k_tool_tmp_dir}};
  for (const char* name : {"HOME", "LD_LIBRARY_PATH", "PATH"}) {
    const auto found = caller.find(name);
    if (found != caller.end()) env.insert(*found);
  }
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
