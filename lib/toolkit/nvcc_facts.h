// What one nvcc says of itself. Private to lib/toolkit.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "arch/target.h"
#include "base/version.h"
#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

struct NvccFacts {
  Version version;
  ArchSet targets;
  std::set<std::string> options;
};

// "Cuda compilation tools, release 13.0, V13.0.88" -> 13.0.88; empty when there is none.
Version parse_nvcc_version(std::string_view version_output);
// The allowed values of --gpu-code that are targets, and all long options.
void parse_nvcc_help(std::string_view help_output, NvccFacts& facts);

// From `facts` where they know this very file, else by two starts in `environment`. The error is the
// reason in words.
tl::expected<NvccFacts, std::string> ask_nvcc(const Path& nvcc, System& system,
                                              const Environment& environment, FactStore& facts);

// Asks anew, as is due for a script, which may stand for another nvcc by now: false where it says something
// else than `facts` did, which know it from then on.
bool nvcc_answers_as_known(const Path& nvcc, System& system, const Environment& environment,
                           FactStore& facts);

}  // namespace dsbuild
