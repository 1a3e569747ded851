// The driver: from a request to the bundle in its place. What `dsbuild build` calls, and any other program
// may.
#pragma once

#include "binary/kernels.h"
#include "bundle/bundle.h"
#include "bundle/gate.h"
#include "driver/build_shard.h"
#include "driver/rebuild_until_stable.h"

namespace dsbuild {

// What kernels of an op take of a GPU.
struct OpKernels {
  std::string op;
  std::vector<ImageKernels> images;
};

struct BuildOutcome {
  Bundle bundle;
  Manifest manifest;
  int skipped = 0;
  int edges_run = 0;
  int compiles = 0;  // of them, whose tools ran: no result was there for them
  double seconds = 0;
  CacheUses store;
  std::optional<MirrorUses> remote;       // nullopt: no cache is shared
  std::optional<ExecutorUses> execution;  // nullopt: all tools were to run here
  std::optional<MergeCounts> merge;       // with --shard merge
  std::optional<FinishedEdge> slowest;
  std::optional<size_t> compared;  // with nvcc's: sliced files of the published ops
  MemoryWaits waits;
  std::vector<EdgeFailure> failures;  // of ops that are not in the bundle; only with --keep-going
  std::vector<Warning> warnings;
  std::vector<OpKernels> kernels;  // with --ptxas-info
  std::optional<Verdict> gate;     // where something was asked of the bundle (requested_gate.h)
};

struct Built {
  Plan plan;
  std::unique_ptr<ComparisonRun> comparison{};  // nullptr: nothing was compared
  BuildOutcome outcome{};
  bool did_something = false;  // else all was as it is now
  // Of the build folder, held for as long as this value lives: the next build there waits for it.
  std::unique_ptr<FolderLock> lock{};
};

// Errors besides those of make_plan: `edge_failed` (its failures were told as events), `interrupted`,
// `ninja_failed`, `unsettled`, `foreign_build_dir`, `locked`, `cancelled`, `out_of_time`, those of
// publishing, of the gate. The bundle that is there stays as it is then.
Result<Built> build_bundle(Request request, Session& session);

}  // namespace dsbuild
