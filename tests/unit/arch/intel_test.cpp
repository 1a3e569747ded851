#include "arch/intel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "arch/coverage.h"
#include "arch_data.h"
#include "base/text.h"

using namespace dsbuild;

namespace {

ArchSet intel_archs(const std::string& list) {
  CAPTURE(list);
  return parse_arch_list(list, "--arch").value().targets;
}

}  // namespace

TEST_CASE("The table has the versions that ocloc itself answers for its devices") {
  const auto rows = data_lines("ocloc_ids.txt");
  CHECK(rows.size() == 30);
  for (const std::vector<std::string>& words : rows) {
    CAPTURE(words.front());
    const Target target = intel().parse_name(words.at(0)).value();
    CHECK(intel_device(target).version.text() == words.at(1));
    CHECK(intel_target_of_member("64." + words.at(1)) == target);
    CHECK(IntelVersion::of(intel_device(target).version.number()) == intel_device(target).version);
  }
  CHECK(std::ranges::is_sorted(intel_devices(), {}, &IntelDevice::version));
}

TEST_CASE("PCI device IDs are those of the GPUs that Linux knows by them") {
  // What Linux has one word for.
  const std::map<std::string, std::string> finer = {{"0bd4", "pvc-vg"}, {"b090", "ptl-u"}};
  size_t known = 0;
  for (const std::vector<std::string>& words : data_lines("linux_intel_ids.txt"))
    for (size_t i = 1; i < words.size(); ++i) {
      CAPTURE(words[0], words[i]);
      const auto product = intel_product_of(*whole_number<uint16_t>(words[i], 16));
      if (!product) continue;  // Intel's compute runtime has no such device
      ++known;
      CHECK(product->target == intel().parse_name(finer.contains(words[i]) ? finer.at(words[i]) : words[0]));
    }
  CHECK(known == 261);
}

TEST_CASE("PCI device IDs are those of the GPUs that ocloc takes them for") {
  // Devices that ocloc compiles for by their names, and takes for an older one by their IDs.
  const std::map<std::string, std::string> coarser = {
      {"aml", "kbl"}, {"whl", "cfl"}, {"cml", "cfl"}, {"apl", "bxt"}};
  size_t known = 0;
  for (const std::vector<std::string>& words : data_lines("ocloc_pci_ids.txt"))
    for (size_t i = 1; i < words.size(); ++i) {
      CAPTURE(words[0], words[i]);
      const auto product = intel_product_of(*whole_number<uint16_t>(words[i], 16));
      REQUIRE(product);
      const std::string name = intel_device(product->target).name;
      CHECK_THAT(coarser.contains(name) ? coarser.at(name) : replace_all(name, "-", ""),
                 Catch::StartsWith(words[0]));
      ++known;
    }
  CHECK(known == 231);
}

TEST_CASE("Integrated is what stands in processors, and an ID of nobody's is none") {
  const auto is_integrated = [](uint16_t id) { return intel_product_of(id)->is_integrated; };
  CHECK(is_integrated(0x4680));           // UHD Graphics 770
  CHECK(is_integrated(0x64a0));           // Lunar Lake
  CHECK_FALSE(is_integrated(0x4905));     // Iris Xe MAX, of the release of Tiger Lake
  CHECK_FALSE(is_integrated(0x56a0));     // Arc A770
  CHECK_FALSE(is_integrated(0x0bd5));     // Data Center GPU Max 1550
  CHECK_FALSE(is_integrated(0xe20b));     // Arc B580
  CHECK_FALSE(intel_product_of(0x0412));  // Haswell
  CHECK_FALSE(intel_product_of(0xd750));  // Nova Lake
}

TEST_CASE("A GPU of Intel's is named as ocloc, icpx and torch do") {
  CHECK(arch_list(intel_archs("pvc,ats-m150,acm-g11")) == "dg2-g10;dg2-g11;pvc");
  CHECK(arch_list(intel_archs("intel_gpu_dg2_g10;INTEL_GPU_PVC intel_gpu_12_55_8")) == "dg2-g10;pvc");
  CHECK(arch_list(intel_archs("12.60.7,spir64")) == "pvc;spir64");
  CHECK(arch_list(intel_archs("xe-hpg")) == "dg2-g10;dg2-g11;dg2-g12");
  CHECK(intel_archs("xe").count(intel_archs("pvc").begin().operator*()) == 1);
  for (const Target& target : intel().known_gpus()) {
    CHECK(parse_target(target.text()) == target);
    CHECK(parse_target_name(target.name()) == target);
  }
  const Target pvc = *intel_archs("pvc").begin();
  CHECK(pvc.flag() == "-fsycl-targets=intel_gpu_pvc");
  CHECK((*intel_archs("dg2-g10").begin()).flag() == "-fsycl-targets=intel_gpu_dg2_g10");
  CHECK(pvc.image_kind() == "device-binary");
  CHECK(spir64().flag() == "-fsycl-targets=spir64");
  CHECK(spir64().is_virtual());
  CHECK(spir64().image_kind() == "spirv");
}

TEST_CASE("A device binary runs on its GPU and those that take the same code, SPIR-V on each") {
  const auto outcome = [](const std::string& library, const std::string& gpu) {
    return coverage_of(intel_archs(library), parse_gpus(gpu, "--gpu", {})->front()).text();
  };
  CHECK(outcome("pvc", "pvc") == "native (pvc)");
  CHECK(outcome("pvc", "dg2-g10") == "will not run");
  CHECK(outcome("dg2-g10", "dg2-g11") == "native (dg2-g10)");
  CHECK(outcome("dg2-g11", "dg2-g10") == "will not run");
  CHECK(outcome("dg2-g10;dg2-g11", "dg2-g11") == "native (dg2-g11)");
  CHECK(outcome("bmg-g21", "lnl-m") == "native (bmg-g21)");
  CHECK(outcome("pvc;spir64", "dg2-g10") == "by SPIRV (spir64)");
  CHECK(outcome("spir64", "9.0") == "will not run");
}

// Read out of what ocloc 22.43 made of one kernel for each device: core family and stepping behind `CTNI`.
TEST_CASE("A CTNI device binary says its core and stepping") {
  CHECK(arch_list(intel_targets_of_core(3080, 7)) == "pvc;pvc-vg");
  CHECK(arch_list(intel_targets_of_core(3079, 8)) == "dg2-g10");
  CHECK(arch_list(intel_targets_of_core(3079, 5)) == "dg2-g11");
  CHECK(arch_list(intel_targets_of_core(12, 9)) == "skl;kbl;cfl");
  CHECK(arch_list(intel_targets_of_core(18, 0)) == "tgllp;rkl;adl-s;adl-p;adl-n;dg1");
  CHECK(intel_targets_of_core(99, 0).empty());
}

TEST_CASE("Members of ocloc's archives that are no device have no target") {
  for (const char* name :
       {"pad_0", "generic_ir", "64.1.2.3", "64.12.60", "64.12.60.7.1", "16.12.60.7", "64.a.b.c"})
    CHECK_FALSE(intel_target_of_member(name));
  CHECK(intel_target_of_member("32.9.0.9")->text() == "skl");
}

TEST_CASE("A misspelt entry of Intel's is answered with the nearest that there is") {
  const auto fix = [](const std::string& entry) { return parse_arch_list(entry, "--arch").error().fix; };
  CHECK(fix("intel_gpu_pvv").starts_with("did you mean 'pvc'?"));
  CHECK(fix("dg2-g20").starts_with("did you mean 'dg2-g10'?"));
  CHECK(fix("spir").starts_with("did you mean 'spir64'?"));
  CHECK(fix("xe9").starts_with("did you mean 'xe"));
}

TEST_CASE("The words of a list stand for what Intel's compilers can make") {
  ArchSet targets = intel().known_gpus();
  targets.insert(spir64());
  CHECK(intel().all_of(targets, false) == targets);
  CHECK(arch_list(intel().all_of(intel_archs("skl;kbl;dg2-g10;dg2-g11;pvc;spir64"), true)) ==
        "skl;dg2-g10;pvc;spir64");
  CHECK(arch_list(intel().default_of(0)) == "spir64");
  CHECK(arch_list(intel().native_of({*intel_archs("pvc").begin()})) == "pvc;spir64");
}
