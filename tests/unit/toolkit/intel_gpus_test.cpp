#include "toolkit/intel_gpus.h"

#include <catch2/catch.hpp>

#include "arch/intel.h"
#include "arch/nvidia.h"
#include "base/text.h"
#include "toolkit/toolkit.h"
#include "toolkit/visible_gpus.h"
#include "unit/toolkit/machine.h"

using namespace dsbuild;

namespace {

Target intel_gpu(const std::string& name) {
  return intel().parse_name(name).value();
}

// A kernel that shows render nodes as DRM does.
struct Drm : Machine {
  int next = 128;

  // Returns its folder.
  Path add(const std::string& address, const std::string& pci_id, const std::string& driver) {
    const std::string node = "renderD" + std::to_string(next++);
    const Path device = "/sys/class/drm/" + node + "/device";
    files.add_file(device / "uevent", "DRIVER=" + driver + "\nPCI_CLASS=30000\nPCI_ID=" + pci_id +
                                          "\nPCI_SUBSYS_ID=1849:6004\nPCI_SLOT_NAME=" + address + "\n");
    files.add_file("/dev/dri/" + node, "");
    return device;
  }
  void add_max_1550(const std::string& address) {
    const Path device = add(address, "8086:0BD5", "xe");
    files.add_file(device / "tile0/gt0/id", "");
    files.add_file(device / "tile1/gt1/id", "");
  }

  std::string visible() {
    std::vector<std::string> gpus;
    for (const IntelGpu& gpu : visible_intel_gpus(settings, files))
      gpus.push_back(gpu.address.substr(5, 2) + " " + gpu.arch->text());
    return join(gpus, ", ");
  }
  std::string visible_to_all() {
    FactStore facts(files, facts_file);
    std::vector<std::string> archs;
    for (const Target& arch : find_visible_gpus(settings, system, facts).archs)
      archs.push_back(arch.text());
    return join(archs, " ");
  }
};

}  // namespace

TEST_CASE("Intel's GPUs are those that i915 and xe show, discrete ones first, by their addresses") {
  Drm machine;
  CHECK(find_intel_gpus(machine.files).empty());
  machine.add("0000:00:02.0", "8086:4680", "i915");
  machine.add("0000:83:00.0", "8086:E20B", "xe");
  machine.add("0000:03:00.0", "8086:56A0", "i915");
  machine.add("0000:41:00.0", "10DE:2330", "nouveau");
  machine.add("0000:42:00.0", "1002:740C", "amdgpu");
  CHECK(find_intel_gpus(machine.files) ==
        std::vector<IntelGpu>{
            {intel_gpu("dg2-g10"), "Intel 8086:56a0", "i915", "0000:03:00.0", false, 1},
            {intel_gpu("bmg-g21"), "Intel 8086:e20b", "xe", "0000:83:00.0", false, 1},
            {intel_gpu("adl-s"), "Intel 8086:4680", "i915", "0000:00:02.0", true, 1},
        });
}

TEST_CASE("A GPU whose render node is not here is none that this process may use") {
  Drm machine;
  machine.add("0000:03:00.0", "8086:56A0", "i915");
  machine.add("0000:04:00.0", "8086:56A5", "i915");
  CHECK(machine.visible() == "03 dg2-g10, 04 dg2-g11");
  REQUIRE(machine.files.remove_all("/dev/dri/renderD128"));
  CHECK(machine.visible() == "04 dg2-g11");
}

TEST_CASE("A GPU that dsbuild does not know runs SPIR-V where xe drives it, and is said in any case") {
  Drm machine;
  machine.add("0000:00:02.0", "8086:0412", "i915");
  machine.add("0000:03:00.0", "8086:FFFE", "xe");
  const std::vector<Gpu> gpus = find_gpus(machine.system);
  CHECK(gpus == std::vector<Gpu>{{std::nullopt, "Intel 8086:0412 (unknown)", "i915", true},
                                 {spir64(), "Intel 8086:fffe (unknown)", "xe", false}});
  CHECK(archs_of_gpus(gpus) == std::vector<Target>{spir64()});
  CHECK(machine.visible_to_all() == "spir64");
}

TEST_CASE("An integrated GPU counts where there is no other") {
  Drm machine;
  machine.add("0000:00:02.0", "8086:4680", "i915");
  CHECK(archs_of_gpus(find_gpus(machine.system)) == std::vector<Target>{intel_gpu("adl-s")});
  CHECK(machine.visible_to_all() == "adl-s");
  SECTION("another vendor's") {
    machine.processes.on({"nvidia-smi"}, "9.0, 580.65.06, NVIDIA H100 80GB HBM3\n");
    CHECK(find_gpus(machine.system).size() == 2);
    CHECK(archs_of_gpus(find_gpus(machine.system)) == std::vector<Target>{NvidiaTarget{{9, 0}}});
  }
  SECTION("AMD's, to a program") {
    machine.files.add_file("/sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 90402\n");
    CHECK(machine.visible_to_all() == "gfx942");
  }
  SECTION("Intel's own") {
    machine.add("0000:03:00.0", "8086:56A0", "i915");
    CHECK(machine.visible_to_all() == "dg2-g10");
    machine.set("ZE_AFFINITY_MASK", "1");
    CHECK(machine.visible_to_all() == "adl-s");
  }
}

TEST_CASE("ZE_AFFINITY_MASK chooses GPUs by Level Zero's numbers") {
  Drm machine;
  machine.add("0000:00:02.0", "8086:4680", "i915");
  machine.add("0000:03:00.0", "8086:56A0", "i915");
  machine.add("0000:04:00.0", "8086:56A5", "i915");
  const std::string all = "03 dg2-g10, 04 dg2-g11, 00 adl-s";
  const auto [mask, visible] =
      GENERATE_COPY(table<std::string, std::string>({{"", all},
                                                     {"default", all},
                                                     {"1", "04 dg2-g11"},
                                                     {"2, 0,2", "03 dg2-g10, 00 adl-s"},
                                                     {"0.0,x,-1", "03 dg2-g10"},
                                                     {"7,1", "04 dg2-g11"},
                                                     {"7", ""}}));
  CAPTURE(mask);
  machine.set("ZE_AFFINITY_MASK", mask);
  CHECK(machine.visible() == visible);
}

TEST_CASE("ZE_ENABLE_PCI_ID_DEVICE_ORDER numbers by addresses alone") {
  Drm machine;
  machine.add("0000:03:00.0", "8086:56A0", "i915");
  machine.add("0000:00:02.0", "8086:4680", "i915");
  machine.set("ZE_AFFINITY_MASK", "0");
  CHECK(machine.visible() == "03 dg2-g10");
  machine.set("ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1");
  CHECK(machine.visible() == "00 adl-s");
}

TEST_CASE("The halves of a GPU are devices of their own unless it is to be one") {
  Drm machine;
  machine.add_max_1550("0000:18:00.0");
  machine.add_max_1550("0000:2a:00.0");
  machine.set("ZE_AFFINITY_MASK", "3");
  CHECK(machine.visible() == "2a pvc");
  machine.set("ZE_AFFINITY_MASK", "0,1");
  CHECK(machine.visible() == "18 pvc");
  machine.set("ZE_AFFINITY_MASK", "1.1");
  CHECK(machine.visible().empty());
  machine.set("ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE");
  CHECK(machine.visible() == "2a pvc");
  machine.set("ZE_AFFINITY_MASK", "3");
  CHECK(machine.visible().empty());
}

TEST_CASE("i915 shows the halves of a GPU as units, of which a processor has two as well") {
  Drm machine;
  for (const char* id : {"8086:0BD5", "8086:7D55"}) {
    const Path device = machine.add("0000:03:00.0", id, "i915");
    machine.files.add_file(device / "drm/card1/gt/gt0/id", "");
    machine.files.add_file(device / "drm/card1/gt/gt1/id", "");
  }
  for (const IntelGpu& gpu : find_intel_gpus(machine.files))
    CHECK(gpu.tiles == (gpu.is_integrated ? 1 : 2));
}
