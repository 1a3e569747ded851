// Runs the parts of one call (lib/nvcc/step_file.h) in parallel.
#pragma once

#include "exec/action_run.h"
#include "sys/host_slots.h"
#include "wrapper/call_folder.h"

namespace dsbuild {

// Where the parts run, and what for.
struct PartsOfCall {
  const NvccCall& call;
  const PathMap& place;
  const CallTools& tools;
  const CallFolder& folder;
  const Settings& settings;
};

struct JoinedObject {
  std::string bytes;                 // as nvcc's object: host code and images in one
  std::string said;                  // output of the tools, in nvcc's order
  std::vector<std::string> headers;  // of all parts, as in the file k_headers_end; empty: unknown
  FilesRead read;                    // by all parts, with their own names
  bool names_root = true;            // the object may contain the path of the root
};

// Each part is an action of its own, as in a build, and waits for a CPU slot of this machine. The current
// folder is the call's. Error: exit 3 `cannot_slice` with the reason why nvcc itself has to run the call,
// which may be a tool's failure.
Result<JoinedObject> make_by_parts(const PartsOfCall& input, Session& session);

}  // namespace dsbuild
