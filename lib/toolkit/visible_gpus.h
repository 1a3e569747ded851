// Finds the GPUs that a program of CUDA, HIP or SYCL sees in this environment. dsbuild asks CUDA's driver,
// because nvidia-smi ignores CUDA_VISIBLE_DEVICES.
#pragma once

#include <vector>

#include "arch/target.h"
#include "base/version.h"
#include "settings/settings.h"
#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

struct VisibleGpus {
  // Of each GPU that ops are for (archs_to_serve): NVIDIA's in the order of CUDA's numbers, then AMD's of
  // HIP's, then Intel's of Level Zero's.
  std::vector<Target> archs;
  Version driver_cuda;  // the newest CUDA that the driver knows: 13.0; empty: there is no driver
  bool operator==(const VisibleGpus&) const = default;
};

// Starts CUDA in this process (libcuda.so.1), which must not fork afterwards. The driver's answer is
// remembered for as long as machine, driver and the CUDA_… variables are the same.
VisibleGpus find_visible_gpus(const Settings& settings, const System& system, FactStore& facts);

}  // namespace dsbuild
