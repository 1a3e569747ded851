// Judges libraries before they are used: which GPUs they must run on, and how large they may be. For bundles,
// plans and single files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/coverage.h"
#include "base/result.h"
#include "bundle/manifest.h"

namespace dsbuild {

struct Gate {
  std::vector<Target> gpus;
  bool is_strict = false;                  // an uncovered GPU is a failure; false: a warning
  bool forbids_ptx_only = false;           // a GPU whose driver must compile the code is a failure
  uint64_t max_bytes = 0;                  // of all libraries together; 0: no limit
  uint64_t max_op_bytes = 0;               // of each library; 0: no limit
  std::map<std::string, uint64_t> max_of;  // limits for single ops by name, instead of max_op_bytes
  bool asks() const;
};

struct GatedLibrary {
  std::string op;    // libraries of one op for different vendors' GPUs have one name
  std::string name;  // for messages
  uint64_t bytes = 0;
  std::vector<ArchSet> modules;  // empty sets are host code
};
struct Gated {
  std::string where;  // the bundle, plan or command, for messages
  const char* noun;   // for messages: "op", "file"
  std::vector<GatedLibrary> libraries;
};
Gated gated(const Manifest& manifest, const std::string& where);

// How a GPU runs one op with device code, by the op's best library for it.
struct OpCoverage {
  std::string op, name;  // as in GatedLibrary
  Coverage coverage;
  size_t modules = 0;
  ArchSet has;  // archs of the module that decides
};
struct GpuCoverage {
  Target gpu;
  std::vector<OpCoverage> ops;
  Runs runs() const;  // the worst of the ops; not_at_all if there are none
};
GpuCoverage coverage_of_libraries(const std::vector<GatedLibrary>& libraries, const Target& gpu);

// The accepted signature, if one was required.
struct AcceptedSignature {
  std::string key;      // PublicKey::id()
  std::string file;     // the file of the policy's key
  std::string builder;  // as the statement names it
};

struct Verdict {
  std::vector<GpuCoverage> gpus;  // one for each GPU of the gate
  uint64_t bytes = 0;             // of all libraries
  std::vector<Error> failures;    // `gpu_not_covered`, `ptx_only`, `too_large`, those of lib/policy: exit 1
  std::optional<AcceptedSignature> signature;
  std::vector<Warning> warnings;  // `gpu_not_covered`, `gpu_by_driver`
};
// judge_gpus judges by the GPUs alone, because a plan has no sizes. Error: exit 2 `unknown_op` if `max_of`
// names an op that is not there.
Result<Verdict> judge_gpus(const Gate& gate, const Gated& gated);
Result<Verdict> judge(const Gate& gate, const Gated& gated);

// Joins failures into one error. There must be one at least.
Error one_of(const std::vector<Error>& failures);

}  // namespace dsbuild
