// What steps of a build need of the content store and of the tools they run.
#pragma once

#include <optional>

#include "store/content_store.h"
#include "sys/system.h"

namespace dsbuild {

// That of the build in the current folder, as its plan says; nullopt: results are not kept.
std::optional<ContentStore> store_of_build(FileSystem& files);

// size_and_time of a program as it is found with the environment's PATH. A part of a toolkit or a compiler
// may be upgraded without the others.
std::string identity_of_tool(const std::string& program, const Environment& environment,
                             const FileReader& files);

// That of FileIdentity; "" for what is not there.
std::string size_and_time(const Path& path, const FileReader& files);

}  // namespace dsbuild
