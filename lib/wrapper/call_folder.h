// A folder that is laid out as that of a build (base/build_layout.h), for one call.
#pragma once

#include "nvcc/path_map.h"
#include "sys/private_folder.h"
#include "wrapper/call_tools.h"

namespace dsbuild {

class CallFolder {
 public:
  // Of this node, and of this user alone. Errors: exit 1 `unsafe_folder`, `io`.
  static Result<CallFolder> make(const PathMap& place, const CallTools& tools, const Session& session,
                                 const Settings& settings);
  const Path& path() const { return folder_.path(); }
  // What all calls of this node share: "<tmp>/dsbuild-<uid>/nvcc".
  const Path& shared() const { return shared_; }

 private:
  CallFolder(PrivateFolder folder, Path shared) : folder_(std::move(folder)), shared_(std::move(shared)) {}
  PrivateFolder folder_;
  Path shared_;
};

}  // namespace dsbuild
