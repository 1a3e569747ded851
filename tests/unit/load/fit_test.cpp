#include "load/fit.h"

#include <catch2/catch.hpp>

#include "arch/arch_list.h"
#include "arch/nvidia.h"

using namespace dsbuild;

namespace {

ArchSet archs(const std::string& list) {
  return parse_arch_list(list, "test")->targets;
}

// An op with a source for each of these lists, compiled by CUDA 13.5.
struct FitWorld {
  ManifestOp op;
  Manifest manifest;
  LoadMachine machine;

  explicit FitWorld(const std::vector<std::string>& modules) {
    op.name = "scale";
    op.sources.push_back({"scale/binding.cpp", "", {}});
    for (size_t i = 0; i < modules.size(); ++i)
      op.sources.push_back({"scale/part" + std::to_string(i + 1) + ".cu", "", archs(modules[i])});
    manifest.toolkit.version = "13.5.37";
    machine.gpus.driver_cuda = *parse_version("13.5");
    machine.cpu_features = "avx avx2 sse4_2";
  }
  FitWorld& on(const std::vector<NvidiaTarget>& gpus) {
    machine.gpus.archs = {gpus.begin(), gpus.end()};
    return *this;
  }
  std::string misfit() const { return fit_of(op, manifest, machine).misfit; }
};

const NvidiaTarget k_ampere{{8, 0}}, k_hopper{{9, 0}}, k_turing{{7, 5}};

}  // namespace

TEST_CASE("A library fits where each visible GPU is served, and the misfit names the one that is not") {
  CHECK(FitWorld({"8.0;9.0"}).on({k_hopper}).misfit().empty());
  CHECK(FitWorld({"8.0;9.0"}).on({k_ampere, k_hopper}).misfit().empty());
  CHECK(FitWorld({"8.0+PTX"}).on({k_turing, k_hopper}).misfit() ==
        "scale has no image for 7.5 (it has 8.0+PTX)");
  CHECK(FitWorld({"9.0a"}).on({k_hopper, k_ampere}).misfit() == "scale has no image for 8.0 (it has 9.0a)");
}

TEST_CASE("Of several modules the misfit names the one that does not run") {
  FitWorld world({"8.0", "9.0"});
  CHECK(world.on({k_hopper}).misfit() == "scale/part1.cu has no image for 9.0 (it has 8.0)");
  CHECK(world.on({k_ampere}).misfit() == "scale/part2.cu has no image for 8.0 (it has 9.0)");
}

TEST_CASE("PTX is for drivers that are not older than what made it; machine code is for all") {
  FitWorld world({"8.0+PTX"});
  world.on({k_hopper});
  CHECK(world.misfit().empty());
  world.machine.gpus.driver_cuda = *parse_version("13.0");
  CHECK(world.misfit() == "scale has only PTX for 9.0, of CUDA 13.5, and this driver knows CUDA 13.0");
  CHECK(world.on({k_ampere}).misfit().empty());
}

TEST_CASE("Where no GPU is visible none is asked for, and host code asks for none") {
  CHECK(FitWorld({"8.0"}).on({}).misfit().empty());
  CHECK(FitWorld({}).on({k_hopper}).misfit().empty());
  CHECK(fit_of(FitWorld({}).op, {}, FitWorld({}).on({k_hopper}).machine).coverage.empty());
}

TEST_CASE("The CPU must have what the op is compiled for") {
  FitWorld world({"8.0"});
  world.op.cpu_baseline = ManifestCpu{"x86-64-v3", {"avx2", "fma"}};
  CHECK(world.on({k_ampere}).misfit() == "scale is built for x86-64-v3, and this CPU lacks fma");
  world.machine.cpu_features += " fma";
  CHECK(world.misfit().empty());
}
