// Where ops are built on the spot, and what a build there is known by. Private to lib/load.
#pragma once

#include "load/load_op.h"

namespace dsbuild {

// The variables that count for a build. Launchers give each of their processes some of its own (RANK,
// SLURM_PROCID, CUDA_VISIBLE_DEVICES: which GPUs are visible counts by itself); all ranks of a program want
// the same op. Nor do the variables that say where load looks and whether it may build.
Environment without_launchers(const Environment& environment);

struct JitFolder {
  Path folder;        // of this op and all by which two builds of it differ
  std::string asked;  // all that a build here comes from but its environment and the disk
};

// TORCH_EXTENSIONS_DIR/dsbuild, or `jit` in the cache folder. Where that is a disk of several nodes,
// dsbuild-<uid> in /tmp or /var/tmp: what is being made, and locks, are of one node. Nodes share the cache of
// results. Errors: those of make_own_folder.
Result<JitFolder> jit_folder(const LoadRequest& request, const System& system);

}  // namespace dsbuild
