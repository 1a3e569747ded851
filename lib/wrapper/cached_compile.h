// The object of one call of nvcc's: from the cache, or made and kept.
#pragma once

#include "wrapper/call_log.h"
#include "wrapper/call_tools.h"

namespace dsbuild {

// Set by `wrap`, "any": what the folders of temporary projects are called is no matter.
inline constexpr const char* k_folder_names_variable = "DSBUILD_FOLDER_NAMES";

struct CallRequest {
  NvccCall call;
  NamedNvcc nvcc;
  Settings settings;
};

struct CachedCompile {
  int code = 0;  // nvcc's, where the whole command was run
  CallKind kind = CallKind::taken;
  double seconds_made = 0;
  bool is_for_folder_alone = false;  // it holds the path of a folder that may have another name next time
};

using Say = std::function<void(std::string_view out, std::string_view err)>;

// Takes the call's object from the cache, or makes it in a folder of its own; the current folder is `folder`
// again at the end. The call was given in `folder`: its names of the object and the depfile count from there.
// `say` gets the tools' output, of now or of the time when the cached object was made. The key has the
// command, with names of files below its root (nvcc/path_map.h), the tools, and the variables that they
// read. The record is that of an action (exec/record.h). An object that holds the root's own path is cached
// for that root alone. Errors: why nvcc itself has to run the call; then nothing was written.
Result<CachedCompile> make_or_take(const CallRequest& request, const Path& folder, System& system,
                                   const Say& say);

}  // namespace dsbuild
