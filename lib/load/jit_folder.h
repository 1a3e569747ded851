// The folder in which `load` builds a missing op, and its identity. Private to lib/load.
#pragma once

#include "load/load_op.h"

namespace dsbuild {

// The variables that matter to a build. All ranks of a program need the same op, so the variables that a
// launcher sets for each process do not matter: RANK, SLURM_PROCID, CUDA_VISIBLE_DEVICES (the visible GPUs
// matter by themselves). Nor do those that say where `load` looks and whether it may build.
Environment without_launchers(const Environment& environment);

struct JitFolder {
  Path folder;        // one for each op and each request that would give a different build
  std::string asked;  // the request, without the environment and the disk
};

// In TORCH_EXTENSIONS_DIR/dsbuild, or in `jit` of the cache folder. If several nodes share that disk, in
// dsbuild-<uid> of /tmp or /var/tmp, because a build and its locks belong to one node. Nodes share the cache
// of results. Errors: those of make_own_folder.
Result<JitFolder> jit_folder(const LoadRequest& request, const System& system);

}  // namespace dsbuild
