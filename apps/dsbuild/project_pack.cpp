#include "project_pack.h"

#include <algorithm>

namespace dsbuild {
namespace {

// The CUDA that a build would try first.
Path cuda_home_of(const Settings& settings, const CommandContext& context) {
  Session session(settings, context.system);
  const Toolkits toolkits = find_toolkits(settings, context.system, session.facts, session.digests);
  const auto cuda = std::ranges::find(toolkits.found, &k_nvcc_family, &Toolkit::family);
  return cuda == toolkits.found.end() ? Path{} : cuda->home;
}

}  // namespace

Result<WrittenProject> pack_of_project(const Path& project, const Path& pack_folder, const Settings& settings,
                                       const CommandContext& context) {
  if (settings.verbosity >= 0)
    print_message("dsbuild: reading " + project.string() + ": its setup.py, if it has one, is run by " +
                  settings.python.value + " (the project's own code; nothing is compiled)\n");
  DSBUILD_TRY(written,
              write_project(project, pack_folder, settings, cuda_home_of(settings, context), context.system));
  if (settings.verbosity >= 0)
    for (const std::string& line : written.pack.said)
      print_message("  " + line + "\n");
  return written;
}

}  // namespace dsbuild
