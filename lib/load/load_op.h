// Loads an op for a program: a prebuilt one if it fits, else dsbuild builds it now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/request.h"
#include "driver/session.h"
#include "load/builder_note.h"
#include "load/fit.h"

namespace dsbuild {

struct LoadRequest {
  Request request;  // settings for a build, if one is needed; with `arch` if archs are requested
  std::string op;
  Path path;  // a bundle, or one of its libraries, to try first; "": none
  LoadMachine machine;
  Patience patience{};               // with a second process that builds the op
  std::vector<Path> installed = {};  // bundles in installed wheels, tried after DSBUILD_BUNDLE
  bool only_build = false;           // builds although a prebuilt op may fit
};

// Returns the op of "deepspeed/fused_adam", and sets its pack in `settings`. Without "PACK/", the pack there
// stays.
std::string take_pack(const std::string& name, Settings& settings);

// The archs by the build for this machine: the requested ones, with PTX for the highest if none has PTX;
// without a request, those of the visible GPUs. Errors: exit 3 `no_gpu`.
Result<Setting<ArchRequest>> archs_of(const LoadRequest& request);

struct LoadedOp {
  Path library;  // absolute; it fits
  Manifest manifest;
  ManifestOp op;
  std::string from;  // "--path", "DSBUILD_BUNDLE", "--installed", "built"
  std::vector<Coverage> coverage;
  std::vector<std::string> passed_over;  // one sentence for each prebuilt op that does not fit
  int edges_run = 0;                     // of a build
  int compiles = 0;                      // BuildOutcome::compiles
};

// Tries in this order: `path`, the bundle that DSBUILD_BUNDLE names, `installed`, a build for this machine.
// Takes a prebuilt op if its bytes match its manifest and it fits (load/fit.h).
//
// The build uses the same plan, actions, records and cache as `dsbuild build`, for this op alone and for the
// archs of archs_of. Its folder belongs to this machine (load/jit_folder.h). Processes that want the same op
// wait for each other there (load/jit_build.h). Machines share only the cache of results.
//
// Errors: exit 3 `no_gpu` (no archs were asked for and no GPU is visible), `jit_off` (DSBUILD_JIT=0),
// `no_fit` (the library for the requested archs does not run here); exit 1 `unsafe_folder` (other users can
// write to the library); exit 75 `locked`; those of load_manifest and build_bundle.
Result<LoadedOp> load_op(const LoadRequest& request, Session& session);

}  // namespace dsbuild
