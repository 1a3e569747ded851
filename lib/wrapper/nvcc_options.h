// A table of nvcc's options and their meaning for a call. Names, short and long, have no dashes. Source:
// `nvcc --help` of CUDA 11.8, 13.0 and 13.5, and the behaviour of these. Private to lib/wrapper.
#pragma once

#include <string>

#include "wrapper/nvcc_call.h"

namespace dsbuild {

// Whether the option takes a value, in the next word or after `=`.
bool takes_value(const std::string& name);
// The option of a word that also contains its value, as in -DX: "DX=1" -> "D"; "" for other words.
std::string joined_option(const std::string& name);

// The output that an option asks for, for options that ask for no object of one translation unit; "" for
// others.
std::string other_phase(const std::string& name);

// Why a compile with this option is not split into parts.
struct OtherCompile {
  const char* why;
  NvccCall::Kept kept;
};
const OtherCompile* other_compile(const std::string& name);  // nullptr for other options
bool is_relocatable_compile(const std::string& name);        // -dc and the like, which stand for -c too

// Whether the host compiler, with this option, reads or writes files that nothing else names, or makes
// something other than code.
bool is_refused_by_host(const std::string& word);

}  // namespace dsbuild
