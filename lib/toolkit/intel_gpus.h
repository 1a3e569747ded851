// Intel's GPUs, as the kernel's drivers i915 and xe show them in /sys. No program of Intel is needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/target.h"
#include "settings/settings.h"
#include "sys/file_system.h"

namespace dsbuild {

struct IntelGpu {
  // Such as dg2-g10. A GPU that dsbuild does not know has spir64 if its driver is xe, since all GPUs of xe
  // take SPIR-V. It has nullopt if its driver is i915, which also drives older GPUs.
  std::optional<Target> arch{};
  std::string name;            // "Intel 8086:56a0", vendor and device as lspci -n has them
  std::string driver;          // "i915", "xe"
  std::string address;         // "0000:03:00.0", on the PCI bus
  bool is_integrated = false;  // part of a processor
  int tiles = 1;               // 2: a GPU of two halves, which programs may see as two devices
  bool operator==(const IntelGpu&) const = default;
};

// In the order of Level Zero's numbers: first GPUs with their own memory, then integrated ones, each by
// address. Leaves out a GPU whose device file /dev/dri/renderD… is absent (in a container, for example):
// no program can use it. Source: Linux, drivers/pci/pci-driver.c (uevent), drivers/gpu/drm;
// intel/compute-runtime, drm_neo.cpp and execution_environment.cpp.
std::vector<IntelGpu> find_intel_gpus(const FileReader& files);

// The GPUs that Level Zero shows to a program. ZE_AFFINITY_MASK lists GPUs ("0,2") and tiles ("0.1": tile 1
// of GPU 0); ZE_FLAT_DEVICE_HIERARCHY and ZE_ENABLE_PCI_ID_DEVICE_ORDER change the numbering. Ignores
// numbers without a device, and ONEAPI_DEVICE_SELECTOR, which belongs to SYCL and covers all its backends.
std::vector<IntelGpu> visible_intel_gpus(const Settings& settings, const FileReader& files);

}  // namespace dsbuild
