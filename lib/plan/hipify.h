// CUDA sources of HIP ops: hipify makes HIP of them below the build folder, and compiles read it there.
#pragma once

#include <optional>

#include "plan/backend.h"

namespace dsbuild {

// Whether this op's build translates the source.
bool is_hipified(const BackendOp& op, const SourceSpec& source);
// "hipify/adam", which is laid out as the source root is; "hipify/adam.list".
std::string hipify_folder(const BackendOp& op);
std::string hipify_list(const BackendOp& op);
// One edge for all sources of the op, because they share headers; nullopt if none is hipified.
std::optional<Edge> hipify_edge(const BackendOp& op);

}  // namespace dsbuild
