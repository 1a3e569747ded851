#include "arch/intel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "arch/coverage.h"
#include "arch_data.h"
#include "base/text.h"

using namespace dsbuild;

namespace {

ArchSet archs(const std::string& list) {
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

TEST_CASE("A GPU of Intel's is named as ocloc, icpx and torch do") {
  CHECK(arch_list(archs("pvc,ats-m150,acm-g11")) == "dg2-g10;dg2-g11;pvc");
  CHECK(arch_list(archs("intel_gpu_dg2_g10;INTEL_GPU_PVC intel_gpu_12_55_8")) == "dg2-g10;pvc");
  CHECK(arch_list(archs("12.60.7,spir64")) == "pvc;spir64");
  CHECK(arch_list(archs("xe-hpg")) == "dg2-g10;dg2-g11;dg2-g12");
  CHECK(archs("xe").count(archs("pvc").begin().operator*()) == 1);
  for (const Target& target : intel().known_gpus()) {
    CHECK(parse_target(target.text()) == target);
    CHECK(parse_target_name(target.name()) == target);
  }
  const Target pvc = *archs("pvc").begin();
  CHECK(pvc.flag() == "-fsycl-targets=intel_gpu_pvc");
  CHECK((*archs("dg2-g10").begin()).flag() == "-fsycl-targets=intel_gpu_dg2_g10");
  CHECK(pvc.image_kind() == "device-binary");
  CHECK(spir64().flag() == "-fsycl-targets=spir64");
  CHECK(spir64().is_virtual());
  CHECK(spir64().image_kind() == "spirv");
}

TEST_CASE("A device binary runs on its GPU and those that take the same code, SPIR-V on each") {
  const auto outcome = [](const std::string& library, const std::string& gpu) {
    return coverage_of(archs(library), parse_gpus(gpu, "--gpu", {})->front()).text();
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
  CHECK(arch_list(intel().all_of(archs("skl;kbl;dg2-g10;dg2-g11;pvc;spir64"), true)) ==
        "skl;dg2-g10;pvc;spir64");
  CHECK(arch_list(intel().default_of(0)) == "spir64");
  CHECK(arch_list(intel().native_of({*archs("pvc").begin()})) == "pvc;spir64");
}
