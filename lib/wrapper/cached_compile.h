// Gets the object of an nvcc call from the cache, or makes and caches it.
#pragma once

#include "wrapper/call_log.h"
#include "wrapper/call_tools.h"

namespace dsbuild {

// A variable that `wrap` sets to "any": the names of temporary projects' folders do not matter.
inline constexpr const char* k_folder_names_variable = "DSBUILD_FOLDER_NAMES";

struct CallRequest {
  NvccCall call;
  NamedNvcc nvcc;
  Settings settings;
};

struct CachedCompile {
  int code = 0;  // nvcc's exit code if the whole command ran
  CallKind kind = CallKind::taken;
  double seconds_made = 0;
  // The object contains the path of a folder that may have a different name next time.
  bool is_for_folder_alone = false;
};

using Say = std::function<void(std::string_view out, std::string_view err)>;

// Takes the call's object from the cache, or makes it in a folder of its own. The call was made in `folder`:
// its names of the object and the depfile count from there, and `folder` is the current one at the end. `say`
// gets the tools' output, also that of a cached object. The key has the command, with names of files below
// its root (nvcc/path_map.h), the tools, and the variables that they read. The record is that of an action
// (exec/record.h). An object that contains the root's own path is cached only for that root. Error: the
// reason why nvcc itself has to run the call; then nothing was written.
Result<CachedCompile> make_or_take(const CallRequest& request, const Path& folder, System& system,
                                   const Say& say);

}  // namespace dsbuild
