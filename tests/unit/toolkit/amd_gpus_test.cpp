#include "toolkit/amd_gpus.h"

#include <catch2/catch.hpp>

#include "arch/amd.h"
#include "base/text.h"
#include "toolkit/toolkit.h"
#include "toolkit/visible_gpus.h"
#include "unit/toolkit/machine.h"

using namespace dsbuild;

namespace {

Target amd_gpu(const std::string& id) {
  return amd().parse_name(id).value();
}

// A kernel that describes nodes as amdkfd does.
struct Kfd : Machine {
  void add_node(int number, const std::string& name, int version, const std::string& id = "0") {
    const Path node = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(number);
    files.add_file(node / "name", name + "\n");
    files.add_file(node / "properties", "cpu_cores_count " + std::string(version ? "0" : "64") +
                                            "\nsimd_count 440\ngfx_target_version " +
                                            std::to_string(version) + "\nunique_id " + id + "\n");
  }

  std::string visible() {
    std::vector<std::string> archs;
    for (const AmdGpu& gpu : visible_amd_gpus(settings, files))
      archs.push_back(gpu.arch.text());
    return join(archs, " ");
  }
};

}  // namespace

TEST_CASE("AMD's GPUs are those of the kernel's nodes, in the order of their numbers") {
  Kfd machine;
  CHECK(find_amd_gpus(machine.files).empty());
  machine.add_node(0, "", 0);  // processor cores
  machine.add_node(10, "navi31", 110000);
  machine.add_node(2, "aldebaran", 90010, "13832923463023341722");
  machine.add_node(3, "gfx_of_tomorrow", 990000);
  machine.add_node(4, "odd", 91700);
  machine.files.add_file("/sys/module/amdgpu/version", "6.8.5\n");
  CHECK(find_amd_gpus(machine.files) ==
        std::vector<AmdGpu>{{amd_gpu("gfx90a"), "aldebaran", "6.8.5", 13832923463023341722ULL},
                            {amd_gpu("gfx1100"), "navi31", "6.8.5", 0}});
}

TEST_CASE(
    "gfx_target_version is major, minor and stepping, of which names have the last two in hexadecimal") {
  // Of Linux, drivers/gpu/drm/amd/amdkfd/kfd_device.c.
  const auto [version, name] = GENERATE(table<int, const char*>({{80003, "gfx803"},
                                                                 {90006, "gfx906"},
                                                                 {90010, "gfx90a"},
                                                                 {90012, "gfx90c"},
                                                                 {90402, "gfx942"},
                                                                 {90500, "gfx950"},
                                                                 {100302, "gfx1032"},
                                                                 {110000, "gfx1100"},
                                                                 {110501, "gfx1151"},
                                                                 {120001, "gfx1201"}}));
  Kfd machine;
  machine.add_node(1, "gpu", version);
  REQUIRE(find_amd_gpus(machine.files).size() == 1);
  CHECK(find_amd_gpus(machine.files)[0].arch.text() == name);
}

TEST_CASE("A GPU whose node cannot be read is none that this process may use") {
  Kfd machine;
  machine.add_node(1, "aldebaran", 90010);
  machine.add_node(2, "aldebaran", 90402);
  machine.files.fail_reads("/sys/class/kfd/kfd/topology/nodes/1/properties", "Operation not permitted");
  REQUIRE(find_amd_gpus(machine.files).size() == 1);
  CHECK(find_amd_gpus(machine.files)[0].arch == amd_gpu("gfx942"));
}

TEST_CASE("The GPUs of a machine are of all vendors") {
  Kfd machine;
  machine.add_node(1, "aldebaran", 90010);
  machine.processes.on({"nvidia-smi"}, "9.0, 580.65.06, NVIDIA H100 80GB HBM3\n");
  const std::vector<Gpu> gpus = find_gpus(machine.system);
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0] == Gpu{amd_gpu("gfx90a"), "aldebaran", ""});
  CHECK(gpus[1].name == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES choose GPUs, the second of those of the first") {
  Kfd machine;
  machine.add_node(1, "a", 90010, "255");
  machine.add_node(2, "b", 90402, "256");
  machine.add_node(3, "c", 110000, "257");
  CHECK(machine.visible() == "gfx90a gfx942 gfx1100");
  machine.set("HIP_VISIBLE_DEVICES", "2,0,2");
  CHECK(machine.visible() == "gfx1100 gfx90a");
  machine.set("ROCR_VISIBLE_DEVICES", "GPU-101, 1");
  CHECK(machine.visible().empty());  // of two, the number 2 names none
  machine.set("HIP_VISIBLE_DEVICES", "");
  CHECK(machine.visible() == "gfx1100 gfx942");
  machine.set("CUDA_VISIBLE_DEVICES", "1");  // HIP knows it too
  CHECK(machine.visible() == "gfx942");
  machine.set("HIP_VISIBLE_DEVICES", "0,-1,1");
  CHECK(machine.visible() == "gfx1100");
  machine.set("ROCR_VISIBLE_DEVICES", "");
  CHECK(machine.visible().empty());
}

TEST_CASE("What a HIP program sees stands beside what a CUDA program sees") {
  Kfd machine;
  machine.add_node(1, "a", 90010);
  machine.add_node(2, "b", 90402);
  machine.set("HIP_VISIBLE_DEVICES", "1");
  FactStore facts(machine.files, machine.facts_file);
  CHECK(find_visible_gpus(machine.settings, machine.system, facts).archs ==
        std::vector<Target>{amd_gpu("gfx942")});
}
