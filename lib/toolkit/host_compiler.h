// Finds the C++ compilers of this machine, and those that a toolkit accepts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/version.h"
#include "settings/settings.h"
#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

struct HostCompiler {
  Path path;           // absolute
  std::string family;  // "gcc" or "clang"
  Version version;
  std::string origin;  // "CUDAHOSTCXX", "NVCC_CCBIN", "CXX", "PATH"
  bool operator==(const HostCompiler&) const = default;
};

// What a toolkit's include/crt/host_config.h says: "gcc versions later than 11 are not supported!",
// "clang version must be less than 21 and greater than 3.2". 0: no bound found.
struct HostCompilerBounds {
  int gcc_max = 0;    // last major accepted
  int clang_max = 0;  // last major accepted
  bool accepts(const HostCompiler& compiler) const;
  std::string text() const;  // "gcc <= 11, clang <= 14"
  bool operator==(const HostCompilerBounds&) const = default;
};
HostCompilerBounds parse_host_config(std::string_view host_config_h);

// CUDAHOSTCXX, NVCC_CCBIN, CXX (in that order, where set), then g++, g++-N (highest first), clang++,
// clang++-N on PATH; a version is asked once per compiler and remembered. Each path appears once.
std::vector<HostCompiler> find_host_compilers(const Settings& settings, System& system, FactStore& facts);

// What -ccbin or NVCC_CCBIN names to nvcc, absolute: a program, or the folder of a gcc.
std::optional<Path> find_named_host_compiler(const std::string& named, const System& system);

// Whether what -ccbin may name is what nvcc is given anyway: the compiler of CUDAHOSTCXX, NVCC_CCBIN, CXX
// (the first that is set), else g++ on PATH; or its driver for C (gcc of g++), or the folder of that, which
// are the same to nvcc.
bool is_usual_host_compiler(const std::string& named, const Settings& settings, const System& system);

// Asks a wrapper again, because it may start a different compiler now. Returns false if its answer differs
// from `facts`, and stores the new answer.
bool compiler_answers_as_known(const Path& compiler, System& system, FactStore& facts);

}  // namespace dsbuild
