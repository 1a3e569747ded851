// Finds prebuilt ops. Private to lib/load.
#pragma once

#include "load/load_op.h"

namespace dsbuild {

// The first that fits; nullopt: none does, and `passed_over` says why. Errors: those of load_op.
Result<std::optional<LoadedOp>> find_prebuilt(const LoadRequest& request, Session& session,
                                              std::vector<std::string>& passed_over);

// Exit 1 `unsafe_folder` if anyone except this user or root can change the library or its folder.
Result<void> check_is_safe(const Path& library, const FileReader& files);

}  // namespace dsbuild
