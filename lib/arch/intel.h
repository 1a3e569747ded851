// Intel's targets: a GPU by its name at ocloc, as `pvc` and `dg2-g10`, and `spir64`, SPIR-V for all of them.
// Source: `ocloc compile --help` and `ocloc ids` of 22.43 (Debian 12), the names, versions and compatible
// devices of newer ones from intel/compute-runtime's table of AOT platforms; spellings of icpx: DPC++'s users
// manual.
#pragma once

#include "arch/vendor.h"

namespace dsbuild {

const Vendor& intel();

// The version of a GPU's hardware, 12.60.7 of a pvc: "matched ids" of `ocloc ids`. An archive that ocloc
// makes for several devices names its members by it and the size of pointers, "64.12.60.7"; a device binary
// of the newer form (EM_INTELGT) has it as one number in its notes.
struct IntelVersion {
  int major = 0, minor = 0, revision = 0;
  auto operator<=>(const IntelVersion&) const = default;
  std::string text() const;  // "12.60.7"
  uint32_t number() const;   // major << 22 | minor << 14 | revision
  static IntelVersion of(uint32_t number);
};

struct IntelDevice {
  const char* name;  // "dg2-g10"
  IntelVersion version;
  uint16_t core;        // GFXCORE_FAMILY: the number after the magic and version of a `CTNI` device binary
  const char* release;  // "xe-hpg": ocloc's word for all devices of a kind
  std::vector<const char*> others;  // further names of the same hardware
};
const std::vector<IntelDevice>& intel_devices();  // ascending by version

Target intel_target(const IntelDevice& device);
Target spir64();
// nullopt: a version without a row.
std::optional<Target> intel_target_of(const IntelVersion& version);
// "64.12.60.7", "32.9.0.9": a member of an archive of ocloc's.
std::optional<Target> intel_target_of_member(std::string_view name);
// The devices with this core and stepping. A `CTNI` device binary has these two (the u32 at 8 and 20) and not
// the device. The driver checks no more, so the binary runs on each of these devices.
ArchSet intel_targets_of_core(uint32_t core, uint32_t stepping);
// The device of a target that is not spir64.
const IntelDevice& intel_device(const Target& target);

// The GPU with this PCI device ID; nullopt: it has no row. Source: intel/compute-runtime, of 2026-08-22:
// shared/source/dll/devices/product_config_base.inl and the device_ids_configs_*.h that it names; up to gen11
// those of the branch releases/24.35, the last that has them.
struct IntelProduct {
  Target target;
  bool is_integrated = false;  // into a processor
};
std::optional<IntelProduct> intel_product_of(uint16_t pci_id);

}  // namespace dsbuild
