// Whether this machine has what the ops need: every op, every probe, in one pass, never an abort.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/registry.h"
#include "requirements/torch.h"
#include "sys/fact_store.h"
#include "sys/host.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// torch's hipify: Python, which imports nothing of torch.
struct Hipify {
  std::string python;    // absolute
  std::string package;   // the folder torch/utils/hipify
  std::string identity;  // its version, and the digest of each of its files, a line each
  bool operator==(const Hipify&) const = default;
};

// The folders and flags that a met requirement adds to its op's edges.
struct UsageRequirements {
  std::vector<std::string> include_dirs;           // absolute
  std::vector<std::string> cxx_include_dirs;       // for C++ sources alone; before those for all sources
  std::vector<std::string> device_include_dirs;    // for sources with device code alone; likewise
  std::vector<std::string> fallback_include_dirs;  // absolute; after the toolkit's
  std::vector<std::string> base_cxx_flags, base_nvcc_flags,
      base_hip_flags;                            // before the op's own, which may cancel them (-U…)
  std::vector<std::string> cxx_flags;            // CFLAGS the probe used
  std::vector<std::string> link_flags;           // LDFLAGS the probe used, -L, -l
  std::vector<std::string> fallback_link_flags;  // -L; after the toolkit's
  std::map<std::string, std::string>
      library_files;  // "curand" -> "libcurand.so.10": files that -lcurand would not find
  int std = 0;        // the C++ standard of an op that names none; 0: dsbuild's own
  std::map<std::string, std::string> roots;  // folders of the above, by what lies there: "torch"
  std::optional<Hipify> hipify;
  bool python_module = false;  // Python's symbols and CUDA's runtime come from the process that loads it
  bool operator==(const UsageRequirements&) const = default;
};

struct Finding {
  RequirementKind kind = RequirementKind::cuda;
  std::string subject;  // Requirement::text()
  bool ok = false;
  std::string why;      // "libaio.so: io_submit links", "not found: no header aio.h"; first line only
  std::string fix;      // "apt-get install libaio-dev"; "" when ok
  std::string detail;   // the compiler's whole text, for -v
  std::string version;  // the version found, for cuda, tvm_ffi and torch: "0.1.15"
  UsageRequirements usage;
  std::optional<Warning> warning;  // about an op that is built nevertheless
  bool operator==(const Finding&) const = default;
};

struct RequirementReport {
  std::map<std::string, std::vector<Finding>> by_op;  // one entry per op of the registry
  std::optional<Torch> torch;                         // searched only if an op requires it
  CpuLevel cpu_level;
  Version rocm;  // of the toolkit for HIP (requirements/rocm.h); empty without one
  bool met(const std::string& op) const;
  std::vector<std::string> reasons(const std::string& op) const;  // the `why` of failed findings
  // The known fixes, each once.
  std::vector<std::string> fixes(const std::string& op) const;
  bool operator==(const RequirementReport&) const = default;
};

struct RequirementInput {
  const Settings& settings;
  const Registry& registry;
  ToolkitSet toolkits;  // without CUDA's, cuda requirements fail with the reason
  ArchSet requested;    // resolved, empty without a toolkit: what any_arch and every_arch are asked
                        // about, after each op's own filter
  const HostCompiler* cxx = nullptr;  // may be null
  const Host& host;
  CpuLevel cpu_level;
  Result<Torch> torch;  // of find_torch, where asks_for_torch
  // A digest of the parts of `cxx` (HostCompilerParts). Its answers are remembered as long as this is the
  // same.
  std::string cxx_identity{};
};

// The distribution's package tool picks which hint is shown ("apt", "dnf", "pacman", "zypper", "apk"). A
// failed probe is never remembered. A successful one is, as long as the compiler and its flags are the same.
// If a probe cannot run, its finding is not ok, with the reason.
RequirementReport check_requirements(const RequirementInput& input, System& system, FactStore& facts);

// The values that an op's `when` conditions ask about, with `archs` as the op's set.
WhenContext when_context(const Registry& registry, const RequirementReport& requirements,
                         const Toolkit* toolkit, const std::string& cpu, ArchSet archs);

}  // namespace dsbuild
