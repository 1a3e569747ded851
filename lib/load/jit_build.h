// One build of an op for all processes of this node that want it. Private to lib/load.
//
// The locks here only save work. Correctness needs none of them: the build folder has a lock of its own
// (lib/driver/build_folder.h), a bundle is exchanged in one step, and results in the cache are whole or
// absent. The process that holds the lock of a turn builds, and the others wait. The kernel frees the lock
// when its holder ends, and no child inherits it. So the next process takes over at once if a builder is
// killed. A process that waits too long (Patience), or finds that compilers of a killed builder do not end,
// takes the next of k_most_turns folders, with the same rules. The cache has the work that was done already.
#pragma once

#include "load/jit_folder.h"

namespace dsbuild {

inline constexpr size_t k_most_turns = 8;

// `jit`: the request for the build, without its folders. Errors: those of load_op; exit 75 `locked` if
// --lock-timeout ran out, or if the builders in all folders are stuck.
Result<LoadedOp> build_in_turn(const LoadRequest& request, Request jit, const JitFolder& folder,
                               Session& session);

// The op from an earlier build, if all its inputs are unchanged. Does not wait for other processes.
std::optional<LoadedOp> find_built(const LoadRequest& request, const JitFolder& folder, const System& system);

}  // namespace dsbuild
