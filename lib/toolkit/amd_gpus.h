// Lists AMD's GPUs from the files of the kernel's driver amdgpu. Needs no program of AMD.
#pragma once

#include <string>
#include <vector>

#include "arch/target.h"
#include "settings/settings.h"
#include "sys/file_system.h"

namespace dsbuild {

struct AmdGpu {
  Target arch;         // gfx90a: the plain target, which runs with any setting of its features
  std::string name;    // "aldebaran": amdgpu's own word
  std::string driver;  // "6.8.5": of AMD's package; "" where amdgpu is the kernel's own
  uint64_t id = 0;     // unique_id; 0: it has none
  bool operator==(const AmdGpu&) const = default;
};

// In the order of the nodes below /sys/class/kfd/kfd/topology/nodes, which is that of HIP's numbers. A GPU
// that this user or container may not use cannot be read there, and one that dsbuild has no target for is
// left out. Source: Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c (gfx_target_version: 90010 of gfx90a).
std::vector<AmdGpu> find_amd_gpus(const FileReader& files);

// Those that a HIP program sees: ROCR_VISIBLE_DEVICES (numbers or "GPU-<unique_id>"; set and empty: none),
// and of what that leaves HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES (numbers; empty: all). The first
// entry that names no GPU ends a list.
std::vector<AmdGpu> visible_amd_gpus(const Settings& settings, const FileReader& files);

}  // namespace dsbuild
