// A backend turns a planned op into compile edges and link flags. Each backend is one file and a row of a
// table.
#pragma once

#include <vector>

#include "plan/build_plan.h"

namespace dsbuild {

struct BackendOp {
  const OpBuilder& builder;
  const PlannedOp& planned;
  const Toolkit* toolkit;  // for its vendor's GPUs; for an op without device code, CUDA's or nullptr
  WhenContext context;
  UsageRequirements usage;  // of all its met requirements
};

struct Backend {
  BackendKind kind;
  bool has_host_compiler;  // the toolkit chooses the C++ compiler, which also links; false: the machine's C++
                           // compiler does
  // The compile edge of one of the op's sources.
  Edge (*compile_edge)(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source);
  // Flags of its link edge, after the objects and the op's own.
  std::vector<std::string> (*link_flags)(const BuildPlanInput& input, const BackendOp& op);
  // The edge that makes the op's device code, if its objects have none yet; the link takes its output, too.
  // nullptr or nullopt: the objects have the device code.
  std::optional<Edge> (*device_link_edge)(const BackendOp& op, const std::vector<Edge>& compiles) = nullptr;
};

const std::vector<Backend>& backends();
const Backend* find_backend(BackendKind kind);

extern const Backend k_cuda_backend;  // cuda_backend.cpp
extern const Backend k_cpu_backend;   // cpu_backend.cpp
extern const Backend k_hip_backend;   // hip_backend.cpp
extern const Backend k_sycl_backend;  // sycl_backend.cpp

// Without this flag, gcc replaces a system header's name by its real path if that is shorter: a folder of
// this machine in place of a root.
inline constexpr const char* k_names_as_given = "-fno-canonical-system-headers";

// C++ flags and edges for all backends.
std::vector<std::string> include_flags(const BackendOp& op, const SourceSpec& source);
std::vector<std::string> fallback_include_flags(const BackendOp& op);
// `compiler`: the compiler that will run; nullptr: unknown.
Edge cxx_edge(const BuildPlanInput& input, const BackendOp& op, const SourceSpec& source,
              const std::vector<std::string>& more_flags, const HostCompiler* compiler);

// The path of a source's object. Objects of HIP and of CUDA have different paths, so that a build folder may
// serve both in turn.
std::string object_path(const OpBuilder& op, const SourceSpec& source);

// The name of a pack's file in commands: "pack/…".
std::string source_path(const std::string& relative);
// The file that the source's compile reads: the pack's, or hipify's output.
std::string source_path(const BackendOp& op, const SourceSpec& source);

}  // namespace dsbuild
