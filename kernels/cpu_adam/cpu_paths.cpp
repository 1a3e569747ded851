// Which paths this library has, and which of them the CPU at hand can run.
#include "cpu_adam.h"

#ifdef DSBUILD_X86_PATHS
#include <cpuid.h>
#endif

namespace dsbuild::ops {
namespace {

bool always() {
  return true;
}

#ifdef DSBUILD_X86_PATHS
// __builtin_cpu_supports asks the operating system too whether it saves the registers, but not every compiler
// of interest knows the word "f16c".
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f");
}
#endif

}  // namespace

extern const CpuPath k_cpu_paths[] = {
#ifdef DSBUILD_X86_PATHS
    {"avx512", has_avx512, adam_step_avx512},
    {"avx2", has_avx2, adam_step_avx2},
#endif
    {"scalar", always, adam_step_scalar},
};
extern const size_t k_cpu_path_count = sizeof k_cpu_paths / sizeof k_cpu_paths[0];

}  // namespace dsbuild::ops
