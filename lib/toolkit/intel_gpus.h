// Intel's GPUs, as the kernel's drivers i915 and xe show them. No program of Intel's is started, none need be
// there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/target.h"
#include "settings/settings.h"
#include "sys/file_system.h"

namespace dsbuild {

struct IntelGpu {
  // dg2-g10. Of one that dsbuild does not know: spir64 where xe drives it, which has none that is too old for
  // SPIR-V; nullopt where i915 does, which has.
  std::optional<Target> arch{};
  std::string name;            // "Intel 8086:56a0", vendor and device as lspci -n has them
  std::string driver;          // "i915", "xe"
  std::string address;         // "0000:03:00.0", on the PCI bus
  bool is_integrated = false;  // into a processor
  int tiles = 1;               // 2 of a GPU that is two halves, which can be devices of their own
  bool operator==(const IntelGpu&) const = default;
};

// In the order of Level Zero's numbers: those with memory of their own first, each kind by address. Those
// whose /dev/dri/renderD… is not here (a container that was not given it) cannot be used and are left out.
// Source: Linux, drivers/pci/pci-driver.c (uevent), drivers/gpu/drm; intel/compute-runtime, drm_neo.cpp and
// execution_environment.cpp.
std::vector<IntelGpu> find_intel_gpus(const FileReader& files);

// Those that Level Zero shows to a program: ZE_AFFINITY_MASK ("0,2": numbers; "0.1": a tile of the first),
// counted as ZE_FLAT_DEVICE_HIERARCHY and ZE_ENABLE_PCI_ID_DEVICE_ORDER say. A number without a device is
// passed over. ONEAPI_DEVICE_SELECTOR, which is SYCL's own and of all its backends, is not looked at.
std::vector<IntelGpu> visible_intel_gpus(const Settings& settings, const FileReader& files);

}  // namespace dsbuild
