// Asks a device compiler for its version, targets and options, and stores the answer. Private to lib/toolkit.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <tl/expected.hpp>

#include "arch/target.h"
#include "base/version.h"
#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

struct CompilerFacts {
  Version version;
  ArchSet targets;
  std::set<std::string> options;
  std::string bundle_host;  // as in Toolkit
};
// The error is the reason why the compiler cannot be used.
using CompilerAnswer = tl::expected<CompilerFacts, std::string>;

struct CompilerQuestion {
  std::string key;  // "nvcc /usr/local/cuda/bin/nvcc"
  FactBasis basis;
  std::function<CompilerAnswer()> ask;
};

// The answer from `facts` if they have one for this compiler, else from the compiler.
CompilerAnswer answer_of(const CompilerQuestion& question, FactStore& facts);
// Asks a wrapper again, because it may start a different compiler now. Returns false if its answer differs
// from `facts`, and stores the new answer.
bool answers_as_known(const CompilerQuestion& question, FactStore& facts);

// One start of a compiler. `shown`: what it is called in the reason: "bin/nvcc".
tl::expected<ProcessResult, std::string> run_compiler(const std::vector<std::string>& argv,
                                                      const std::string& shown, System& system,
                                                      const Environment& environment);
// The reason of one that ended with a code: "bin/nvcc does not run: <the first line that it says>".
std::string why_it_failed(const ProcessResult& answer, const std::string& shown);

}  // namespace dsbuild
