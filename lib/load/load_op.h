// An op for the program that is going to use it: prebuilt where one fits, else built on the spot.
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
  Request request;  // settings of a build, if there has to be one; `arch` where archs are asked for
  std::string op;
  Path path;  // a bundle, or the library of one, to be looked at before all others; "": none
  LoadMachine machine;
  Patience patience{};               // with another process that builds it
  std::vector<Path> installed = {};  // bundles that are installed as wheels, looked at after DSBUILD_BUNDLE
  bool only_build = false;           // whatever there is already
};

// "deepspeed/fused_adam": the op, whose pack goes into `settings`; an op alone is of the pack there.
std::string take_pack(const std::string& name, Settings& settings);

// The archs of a build for this machine: those that are asked for, with PTX of the highest where none has
// any, else those of the visible GPUs. Errors: exit 3 `no_gpu`.
Result<Setting<ArchRequest>> archs_of(const LoadRequest& request);

struct LoadedOp {
  Path library;  // absolute; it fits
  Manifest manifest;
  ManifestOp op;
  std::string from;  // "--path", "DSBUILD_BUNDLE", "--installed", "built"
  std::vector<Coverage> coverage;
  std::vector<std::string> passed_over;  // prebuilt ones that do not fit, a sentence each
  int edges_run = 0;                     // of a build
  int compiles = 0;                      // BuildOutcome::compiles
};

// In this order: `path`, the bundle that DSBUILD_BUNDLE names, `installed`, a build for this machine. A
// prebuilt op is taken where its bytes are those of its manifest and it fits (load/fit.h); else it is passed
// over.
//
// The build is the same plan, actions, records and cache as ahead of time, for the op alone and for the archs
// that are asked for (PTX of the highest where none has any), else for the visible GPUs. Its folder is of
// this node alone (load/jit_folder.h); processes that want the same wait for one another there
// (load/jit_build.h), nodes share the cache of results.
//
// Errors: exit 3 `no_gpu` (no archs were asked for and no GPU is visible), `jit_off` (DSBUILD_JIT=0),
// `no_fit` (what was built for the archs asked for does not run here); exit 1 `unsafe_folder` (others can
// write to what was to be loaded); exit 75 `locked`; those of load_manifest and build_bundle.
Result<LoadedOp> load_op(const LoadRequest& request, Session& session);

}  // namespace dsbuild
