// The object of one call of nvcc's: from the cache, or made and kept.
#pragma once

#include "launch/call_log.h"
#include "launch/call_tools.h"

namespace dsbuild {

// Set by `wrap`, "any": what the folders of temporary projects are called is no matter.
inline constexpr const char* k_folder_names_variable = "DSBUILD_FOLDER_NAMES";

struct CallRequest {
  NvccCall call;
  NamedNvcc nvcc;
  Settings settings;
};

struct KeptCall {
  int code = 0;  // nvcc's, where the whole command was run
  CallKind kind = CallKind::taken;
  double seconds_made = 0;
  bool is_for_folder_alone = false;  // it holds the path of a folder that may have another name next time
};

using Say = std::function<void(std::string_view out, std::string_view err)>;

// Runs in a folder of its own, which is the current one behind this; the object and the depfile are written
// where the call, which was given in `folder`, names them, and what tools said when they were made goes to
// `say`. The key is the command with the names of files below the root that it is in (nvcc/source_place.h),
// the tools and the variables that they look at; the record is that of an action (action/record.h). What
// holds the root's own path is kept for that root alone. Errors: why nvcc itself has to do it; then nothing
// was written.
Result<KeptCall> make_or_take(const CallRequest& request, const Path& folder, System& system, const Say& say);

}  // namespace dsbuild
