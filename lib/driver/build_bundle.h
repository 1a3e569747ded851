// The driver's main function: it turns a request into a published bundle. `dsbuild build` calls it; any other
// program may call it too.
#pragma once

#include "binary/kernels.h"
#include "bundle/bundle.h"
#include "bundle/gate.h"
#include "driver/build_shard.h"
#include "driver/rebuild_until_stable.h"

namespace dsbuild {

// The registers and memory that the kernels of an op need.
struct OpKernels {
  std::string op;
  std::vector<ImageKernels> images;
};

struct BuildOutcome {
  Bundle bundle;
  Manifest manifest;
  int skipped = 0;
  int edges_run = 0;
  int compiles = 0;  // edges_run that compile and whose tools ran, because no result was found
  double seconds = 0;
  CacheUses store;
  std::optional<MirrorUses> remote;       // nullopt: the build has no shared cache
  std::optional<ExecutorUses> execution;  // nullopt: the build has no remote execution
  std::optional<MergeCounts> merge;       // with --shard merge
  std::optional<FinishedEdge> slowest;
  // Number of sliced files of the published ops that were compared with nvcc's output.
  std::optional<size_t> compared;
  MemoryWaits waits;
  std::vector<EdgeFailure> failures;  // of ops that the bundle therefore lacks; only with --keep-going
  std::vector<Warning> warnings;
  std::vector<OpKernels> kernels;  // with --ptxas-info
  std::optional<Verdict> gate;     // nullopt: no option asks for a check (requested_gate.h)
};

struct Built {
  Plan plan;
  std::unique_ptr<ComparisonRun> comparison{};  // nullptr: nothing was compared
  BuildOutcome outcome{};
  bool did_something = false;  // false: nothing had to be built or written
  // The lock of the build folder. A second build in that folder waits until this value is destroyed.
  std::unique_ptr<FolderLock> lock{};
};

// Errors: those of make_plan, of publish and of check_gate; `edge_failed` (events have named its failures),
// `interrupted`, `ninja_failed`, `unsettled`, `foreign_build_dir`, `locked`, `cancelled`, `out_of_time`.
// After an error, the earlier bundle is unchanged.
Result<Built> build_bundle(Request request, Session& session);

}  // namespace dsbuild
