// nvcc's options by what they mean for a call. Names are without dashes, the short and the long one. Source:
// `nvcc --help` of CUDA 11.8, 13.0 and 13.5, and what these do. Private to lib/wrapper.
#pragma once

#include <string>

#include "wrapper/nvcc_call.h"

namespace dsbuild {

// Whether the option takes a value, in the next word or after `=`.
bool takes_value(const std::string& name);
// Where the value may also stand in the same word, as in -DX: "D" of "DX=1"; "" of other words.
std::string joined_option(const std::string& name);

// Of those that ask for something else than an object of one translation unit: what; "" of others.
std::string other_phase(const std::string& name);

// Of compiles that are not taken apart: why not.
struct OtherCompile {
  const char* why;
  NvccCall::Kept kept;
};
const OtherCompile* other_compile(const std::string& name);  // nullptr of others
bool is_relocatable_compile(const std::string& name);        // -dc and the like, which stand for -c too

// Of the host compiler's options, those with which it reads or writes files that nobody else names, or makes
// something else than code.
bool is_refused_by_host(const std::string& word);

}  // namespace dsbuild
