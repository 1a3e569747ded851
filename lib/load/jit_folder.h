// The folder in which `load` builds a missing op, and its identity. Private to lib/load.
#pragma once

#include "load/load_op.h"

namespace dsbuild {

// Returns the variables that matter to a build. All ranks of a program need the same op, so it leaves out the
// variables that a launcher sets for each process: RANK, SLURM_PROCID, CUDA_VISIBLE_DEVICES (dsbuild takes
// the list of visible GPUs into account separately). It also leaves out those that tell `load` where to look
// and whether to build.
Environment without_launchers(const Environment& environment);

struct JitFolder {
  Path folder;        // one for each op and each request that would give a different build
  std::string asked;  // the op, the archs and the settings as text, to recognise the same request
};

// The folder is in TORCH_EXTENSIONS_DIR/dsbuild, or in `jit` of the cache folder. If several nodes share that
// disk, it is in dsbuild-<uid> of /tmp or /var/tmp, because a build and its locks belong to one node. Nodes
// share only cached results. Errors: those of make_own_folder.
Result<JitFolder> jit_folder(const LoadRequest& request, const System& system);

}  // namespace dsbuild
