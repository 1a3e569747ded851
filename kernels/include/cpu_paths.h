// Which paths a CPU op has, which of them the CPU at hand can run, and which one the process uses.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "cpu_run.h"
#include "tensor_checks.h"

#ifdef DSBUILD_X86_PATHS
#include <cpuid.h>
#endif

namespace dsbuild::ops {

inline bool always_usable() {
  return true;
}

#ifdef DSBUILD_X86_PATHS
// __builtin_cpu_supports asks the operating system too whether it saves the registers, but not every compiler
// of interest knows the word "f16c".
inline bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f");
}
#endif

template <class Coefficients>
struct CpuPath {
  const char* name;  // "avx512", "avx2" or "scalar"
  bool (*usable)();  // by the CPU at hand
  CpuStep<Coefficients>* step;
};

// Fastest first; the last one, scalar, is always usable.
template <class Coefficients>
class CpuPaths {
 public:
  explicit CpuPaths(std::vector<CpuPath<Coefficients>> paths)
      : paths_(std::move(paths)), chosen_(fastest()) {}

  const CpuPath<Coefficients>& chosen() const { return *chosen_; }

  // For the whole process; "auto" is the fastest that the CPU can run.
  void choose(Arguments& arguments) {
    const std::string name = arguments.text("name");
    arguments.end();
    const CpuPath<Coefficients>* path = name == "auto" ? fastest() : named(name);
    if (path == nullptr) {
      std::string names = "auto";
      for (const auto& known : paths_)
        names += std::string(", ") + known.name;
      TVM_FFI_THROW(ValueError) << arguments.where("name") << ": expected one of " << names << ", got "
                                << name;
    }
    if (!path->usable()) {
      TVM_FFI_THROW(ValueError) << arguments.where("name") << ": this CPU cannot run " << name;
    }
    chosen_ = path;
  }

 private:
  const CpuPath<Coefficients>* fastest() const {
    return &*std::find_if(paths_.begin(), paths_.end(), [](const auto& path) { return path.usable(); });
  }
  const CpuPath<Coefficients>* named(const std::string& name) const {
    const auto path =
        std::find_if(paths_.begin(), paths_.end(), [&](const auto& p) { return name == p.name; });
    return path == paths_.end() ? nullptr : &*path;
  }

  const std::vector<CpuPath<Coefficients>> paths_;
  std::atomic<const CpuPath<Coefficients>*> chosen_;
};

}  // namespace dsbuild::ops

// The paths of an op whose steps are step_scalar, step_avx2 and step_avx512.
#ifdef DSBUILD_X86_PATHS
#define DSBUILD_CPU_PATHS(step)                                 \
  {                                                             \
      {"avx512", ::dsbuild::ops::has_avx512, step##_avx512},    \
      {"avx2", ::dsbuild::ops::has_avx2, step##_avx2},          \
      {"scalar", ::dsbuild::ops::always_usable, step##_scalar}, \
  }
#else
#define DSBUILD_CPU_PATHS(step)                                 \
  {                                                             \
      {"scalar", ::dsbuild::ops::always_usable, step##_scalar}, \
  }
#endif
