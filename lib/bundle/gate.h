// What is asked of libraries before they are used: which GPUs they must run on, and how large they may be.
// One set of answers for bundles, plans and single files.
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
  bool is_strict = false;                  // a GPU that is not covered is a failure, else a warning
  bool forbids_ptx_only = false;           // a GPU that compiles code by its driver is a failure
  uint64_t max_bytes = 0;                  // of all libraries together; 0: any
  uint64_t max_op_bytes = 0;               // of each
  std::map<std::string, uint64_t> max_of;  // of one by its op's name, in place of that
  bool asks() const;
};

struct GatedLibrary {
  std::string op;    // libraries of one op, each for another vendor's GPUs, share it
  std::string name;  // in messages
  uint64_t bytes = 0;
  std::vector<ArchSet> modules;  // empty sets are host code
};
struct Gated {
  std::string where;  // what the libraries are, for messages
  const char* noun;   // what one is: "op", "file"
  std::vector<GatedLibrary> libraries;
};
Gated gated(const Manifest& manifest, const std::string& where);

// How a GPU runs each op that has device code, by its library that does it best.
struct OpCoverage {
  std::string op, name;  // as in GatedLibrary
  Coverage coverage;
  size_t modules = 0;
  ArchSet has;  // of the module that decides
};
struct GpuCoverage {
  Target gpu;
  std::vector<OpCoverage> ops;
  Runs runs() const;  // as the worst of them; of none not_at_all
};
GpuCoverage coverage_of_libraries(const std::vector<GatedLibrary>& libraries, const Target& gpu);

// Whose signature counts, where one is asked for.
struct AcceptedSignature {
  std::string key;      // PublicKey::id()
  std::string file;     // in which the policy has the key
  std::string builder;  // that the statement names
};

struct Verdict {
  std::vector<GpuCoverage> gpus;  // of each that is asked about
  uint64_t bytes = 0;             // of all libraries
  std::vector<Error> failures;    // `gpu_not_covered`, `ptx_only`, `too_large`, those of lib/policy: exit 1
  std::optional<AcceptedSignature> signature;
  std::vector<Warning> warnings;  // `gpu_not_covered`, `gpu_by_driver`
};
// By the GPUs alone, as far as a plan can be judged. Error: exit 2 `unknown_op`: a size is for none of the
// ops.
Result<Verdict> judge_gpus(const Gate& gate, const Gated& gated);
Result<Verdict> judge(const Gate& gate, const Gated& gated);

// Several failures as one. Not of none.
Error one_of(const std::vector<Error>& failures);

}  // namespace dsbuild
