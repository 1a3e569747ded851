// A folder for one call, with the layout of a build folder (base/build_layout.h).
#pragma once

#include "nvcc/path_map.h"
#include "sys/private_folder.h"
#include "wrapper/call_tools.h"

namespace dsbuild {

class CallFolder {
 public:
  // Makes it on a local disk, accessible to this user alone. Errors: exit 1 `unsafe_folder`, `io`.
  static Result<CallFolder> make(const PathMap& place, const CallTools& tools, const Session& session,
                                 const Settings& settings);
  const Path& path() const { return folder_.path(); }
  // The folder that all calls on this machine share: "<tmp>/dsbuild-<uid>/nvcc".
  const Path& shared() const { return shared_; }

 private:
  CallFolder(PrivateFolder folder, Path shared) : folder_(std::move(folder)), shared_(std::move(shared)) {}
  PrivateFolder folder_;
  Path shared_;
};

}  // namespace dsbuild
