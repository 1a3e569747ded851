// A backend turns one planned op into its compile edges and link flags. One file each, one table.
#pragma once

#include <vector>

#include "plan/build_plan.h"

namespace dsbuild {

struct BackendOp {
  const OpBuilder& builder;
  const PlannedOp& planned;
  const Toolkit* toolkit;  // of its vendor's GPUs; of an op without device code CUDA's, or nullptr
  WhenContext context;
  UsageRequirements usage;  // of all its met requirements
};

struct Backend {
  BackendKind kind;
  bool has_host_compiler;  // of the toolkit's choice, which links its ops; else the machine's does
  // The compile edge of one of the op's sources.
  Edge (*compile_edge)(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source);
  // Flags of its link edge, after the objects and the op's own.
  std::vector<std::string> (*link_flags)(const BuildPlanInput& input, const BackendOp& op);
  // Where the op's objects hold no code of devices yet: the edge of what does, for its link besides them.
  // nullptr, nullopt: they do.
  std::optional<Edge> (*device_link_edge)(const BackendOp& op, const std::vector<Edge>& compiles) = nullptr;
};

const std::vector<Backend>& backends();
const Backend* find_backend(BackendKind kind);

extern const Backend k_cuda_backend;  // cuda_backend.cpp
extern const Backend k_cpu_backend;   // cpu_backend.cpp
extern const Backend k_hip_backend;   // hip_backend.cpp
extern const Backend k_sycl_backend;  // sycl_backend.cpp

// gcc would put a system header's real path in the place of a longer one: a folder of this machine for
// that of a root.
inline constexpr const char* k_names_as_given = "-fno-canonical-system-headers";

// What every backend needs of the C++ side.
std::vector<std::string> include_flags(const BackendOp& op, const SourceSpec& source);
std::vector<std::string> fallback_include_flags(const BackendOp& op);
// `compiler`: that makes it; nullptr: it is not known.
Edge cxx_edge(const BuildPlanInput& input, const BackendOp& op, const SourceSpec& source,
              const std::vector<std::string>& more_flags, const HostCompiler* compiler);

// The path of a source's object. Objects of HIP and of CUDA have different paths, so that a build folder may
// serve both in turn.
std::string object_path(const OpBuilder& op, const SourceSpec& source);

// A path of the pack, seen from the build folder.
std::string source_path(const std::string& relative);
// What the source's compile reads: that of the pack, or what hipify made of it.
std::string source_path(const BackendOp& op, const SourceSpec& source);

}  // namespace dsbuild
