// The CPU levels of --cpu-baseline, which say which instructions a CPU op may use. One row each
// (cpu_level.cpp).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/version.h"

namespace dsbuild {

struct CpuLevel {
  std::string name;                   // "x86-64-v3", "armv8.2-a"
  std::string machine;                // "x86_64", "aarch64"
  Version number;                     // 3, 8.2: for `when: {cpu_level: …}`
  std::vector<std::string> flags;     // of gcc and clang
  std::vector<std::string> features;  // words of /proc/cpuinfo that a CPU of this level has; sorted
  bool operator==(const CpuLevel&) const = default;
};

const std::vector<CpuLevel>& cpu_levels();  // per machine from the lowest up

// A level by its name. "native" is the highest level of a CPU with `features` (as Host::cpu_features). "" is
// the default: x86-64-v3 and armv8.2-a, which servers with GPUs have had since 2013 and 2018. Error: exit 2
// `bad_choice` if the machine has no such level.
Result<CpuLevel> find_cpu_level(const std::string& name, const std::string& where, const std::string& machine,
                                const std::string& features);

// The words of `needed` that are not in `features`, a list separated by blanks.
std::vector<std::string> missing_features(const std::vector<std::string>& needed,
                                          const std::string& features);

}  // namespace dsbuild
