// The object of one call of nvcc's: from the cache, or made and kept.
#pragma once

#include "launch/call_log.h"
#include "launch/call_tools.h"

namespace dsbuild {

struct CallRequest {
  NvccCall call;
  NamedNvcc nvcc;
  Settings settings;
};

struct KeptCall {
  int code = 0;  // nvcc's, where the whole command was run
  CallKind kind = CallKind::taken;
  double seconds_made = 0;
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
