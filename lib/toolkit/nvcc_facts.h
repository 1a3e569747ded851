// What one nvcc says of itself. Private to lib/toolkit.
#pragma once

#include <string_view>

#include "toolkit/compiler_facts.h"

namespace dsbuild {

// "Cuda compilation tools, release 13.0, V13.0.88" -> 13.0.88; empty when there is none.
Version parse_nvcc_version(std::string_view version_output);
// The allowed values of --gpu-code that are targets, and all long options.
void parse_nvcc_help(std::string_view help_output, CompilerFacts& facts);

// Two starts in `environment`.
CompilerQuestion question_to_nvcc(const Path& nvcc, System& system, FactStore& facts,
                                  const Environment& environment);

}  // namespace dsbuild
