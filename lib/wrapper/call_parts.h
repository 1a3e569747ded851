// The parts of one call (lib/nvcc/step_file.h), side by side.
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
  std::string bytes;                 // as nvcc's: host code and images in one
  std::string said;                  // by the tools, in nvcc's order
  std::vector<std::string> headers;  // of all parts, as k_headers_end has them; empty: they are not known
  FilesRead read;                    // by all of them, own names
  bool names_root = true;            // what was compiled may hold the path of the root
};

// Each part is an action of its own, as in a build, and waits for a turn of this node. The current folder is
// the call's. Errors: exit 3 `cannot_slice`: why nvcc itself has to do it, a tool's failure among them.
Result<JoinedObject> make_by_parts(const PartsOfCall& input, Session& session);

}  // namespace dsbuild
