// What a device compiler says of itself, remembered. Private to lib/toolkit.
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
// Or the reason in words why it cannot be used.
using CompilerAnswer = tl::expected<CompilerFacts, std::string>;

struct CompilerQuestion {
  std::string key;  // "nvcc /usr/local/cuda/bin/nvcc"
  FactBasis basis;
  std::function<CompilerAnswer()> ask;
};

// From `facts` where they know this very compiler, else by asking.
CompilerAnswer answer_of(const CompilerQuestion& question, FactStore& facts);
// Asks again, as is due for a wrapper, which may stand for another compiler by now: false where it says
// something else than `facts` did, which know it from then on.
bool answers_as_known(const CompilerQuestion& question, FactStore& facts);

// One start of a compiler. `shown`: what it is called in the reason: "bin/nvcc".
tl::expected<ProcessResult, std::string> run_compiler(const std::vector<std::string>& argv,
                                                      const std::string& shown, System& system,
                                                      const Environment& environment);
// The reason of one that ended with a code: "bin/nvcc does not run: <the first line that it says>".
std::string why_it_failed(const ProcessResult& answer, const std::string& shown);

}  // namespace dsbuild
