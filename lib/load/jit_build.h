// One build of an op for all processes of this node that want it. Private to lib/load.
//
// Nothing here is needed for what is built to be right: the build folder has a lock of its own
// (lib/driver/build_folder.h), bundles come into their place in one step, results in the cache are whole or
// absent. The lock of a turn saves work: who has it builds, the others wait. The kernel frees it with the
// process that holds it, and no child inherits it, so that the next takes over at once when a builder is
// killed. Who waits for too long (Patience), or finds that compilers of a killed builder do not end, takes
// the next of k_most_turns folders, in which the same holds; the cache makes what is done already cheap
// there.
#pragma once

#include "load/jit_folder.h"

namespace dsbuild {

inline constexpr size_t k_most_turns = 8;

// `jit`: the build without its folders. Errors: those of load_op; exit 75 `locked` where --lock-timeout ran
// out, or the builders in all folders are stuck.
Result<LoadedOp> build_in_turn(const LoadRequest& request, Request jit, const JitFolder& folder,
                               Session& session);

// The op as it was built before, if all that it was made of is unchanged. No process waits for others here.
std::optional<LoadedOp> find_built(const LoadRequest& request, const JitFolder& folder, const System& system);

}  // namespace dsbuild
