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
  LoadPackages packages;

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
  std::string misfit() const { return fit_of(op, manifest, machine, packages).misfit; }
};

// An op that is compiled against torch 2.11 of CUDA 13.0, and that torch.
struct TorchWorld : FitWorld {
  TorchWorld() : FitWorld({"9.0"}) {
    on({NvidiaTarget{{9, 0}}});
    op.module = "deepspeed.ops.scale_op";
    manifest.torch =
        ManifestTorch{"2.11.0+cu130", "13.0", "", true, "cp311", ".cpython-311-x86_64-linux-gnu.so", "cuda"};
    Torch torch;
    torch.version = "2.11.1+cu130";
    torch.cuda = "13.0";
    torch.cxx11_abi = true;
    torch.python.ext_suffix = manifest.torch->ext_suffix;
    packages.torch = torch;
  }
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

TEST_CASE("What CUDA's driver knows does not matter to SPIR-V") {
  FitWorld world({"spir64"});
  world.op.archs = archs("spir64");
  world.machine.gpus.driver_cuda = *parse_version("12.0");
  world.machine.gpus.archs = {k_hopper, *archs("dg2-g10").begin()};
  CHECK(world.misfit().empty());
}

TEST_CASE("Where no GPU is visible none is asked for, and host code asks for none") {
  CHECK(FitWorld({"8.0"}).on({}).misfit().empty());
  CHECK(FitWorld({}).on({k_hopper}).misfit().empty());
  CHECK(fit_of(FitWorld({}).op, {}, FitWorld({}).on({k_hopper}).machine, {}).coverage.empty());
}

TEST_CASE("A library for Intel's GPUs serves none of others, and theirs is nearer to them") {
  ManifestOp sycl = FitWorld({"pvc,spir64"}).op, hip = FitWorld({"gfx942"}).op;
  sycl.archs = archs("pvc,spir64");
  hip.archs = archs("gfx942");
  LoadMachine machine;
  const auto taken = [&] { return fitting_op({&hip, &sycl}, {}, machine, std::nullopt); };
  CHECK(fit_of(sycl, {}, machine, {}).misfit.empty());
  machine.gpus.archs = {k_ampere};
  CHECK(taken().op == &hip);  // neither is for it: the first, and not the one for Intel's
  CHECK(fit_of(sycl, {}, machine, {}).misfit == "scale has no image for 8.0 (it has pvc spir64)");
  machine.gpus.archs = {*archs("gfx90a").begin()};
  CHECK(fit_of(sycl, {}, machine, {}).misfit == "scale has no image for gfx90a (it has pvc spir64)");
  machine.gpus.archs = {*archs("pvc").begin()};
  CHECK(taken().op == &sycl);
  CHECK(taken().fit.coverage.front().text() == "native (pvc)");
  sycl = FitWorld({"dg2-g10"}).op;
  sycl.archs = archs("dg2-g10");
  CHECK(fit_of(sycl, {}, machine, {}).misfit == "scale has no image for pvc (it has dg2-g10)");
}

TEST_CASE("Of a library for each vendor the one for the GPU is taken, and its misfit said where it is none") {
  ManifestOp cuda = FitWorld({"8.0"}).op, hip = FitWorld({"gfx942"}).op;
  cuda.archs = archs("8.0");
  hip.archs = archs("gfx942");
  LoadMachine machine;
  const auto taken = [&] { return fitting_op({&cuda, &hip}, {}, machine, std::nullopt); };
  CHECK(taken().op == &cuda);
  machine.gpus.archs = {*archs("gfx942").begin()};
  CHECK(taken().op == &hip);
  machine.gpus.archs = {*archs("gfx90a").begin()};
  CHECK(taken().fit.misfit == "scale has no image for gfx90a (it has gfx942)");
  machine.gpus.archs = {k_ampere, *archs("gfx90a").begin()};
  CHECK(taken().fit.misfit.empty());
  CHECK(taken().op == &cuda);
  machine.gpus.archs = {k_turing, *archs("gfx90a").begin()};
  CHECK(taken().fit.misfit == "scale has no image for 7.5 (it has 8.0)");
  machine.gpus.archs = {k_turing};
  CHECK(taken().fit.misfit == "scale has no image for 7.5 (it has 8.0)");
}

TEST_CASE("The CPU must have what the op is compiled for") {
  FitWorld world({"8.0"});
  world.op.cpu_baseline = ManifestCpu{"x86-64-v3", {"avx2", "fma"}};
  CHECK(world.on({k_ampere}).misfit() == "scale is built for x86-64-v3, and this CPU lacks fma");
  world.machine.cpu_features += " fma";
  CHECK(world.misfit().empty());
}

TEST_CASE("A Python module loads into the torch and the Python that it was compiled for") {
  TorchWorld world;
  CHECK(world.misfit() == "");
  SECTION("another minor version") {
    world.packages.torch->version = "2.12.0+cu130";
    CHECK(world.misfit() == "scale is built for torch 2.11, and here is 2.12");
  }
  SECTION("another CUDA") {
    world.packages.torch->cuda = "12.8";
    CHECK(world.misfit() == "scale is built for torch with CUDA 13.0, and here is 12.8");
  }
  SECTION("a build without CUDA") {
    world.packages.torch->cuda = "";
    CHECK(world.misfit() == "scale is built for torch with CUDA 13.0, and here is none");
  }
  SECTION("another C++ ABI") {
    world.packages.torch->cxx11_abi = false;
    CHECK(world.misfit() == "scale is built for torch with _GLIBCXX_USE_CXX11_ABI=1, and here is 0");
  }
  SECTION("another Python") {
    world.packages.torch->python.ext_suffix = ".cpython-312-x86_64-linux-gnu.so";
    CHECK(world.misfit() ==
          "scale is built for Python with modules called .cpython-311-x86_64-linux-gnu.so, and here is "
          ".cpython-312-x86_64-linux-gnu.so");
  }
  SECTION("no torch") {
    world.packages.torch.reset();
    CHECK(world.misfit() == "scale is built for torch 2.11, and there is none here");
  }
}

TEST_CASE("An op without torch loads into a tvm-ffi that is not older than its own") {
  FitWorld world({"9.0"});
  world.on({k_hopper});
  world.manifest.tvm_ffi = "0.2.3";
  for (const auto& [here, misfit] : std::vector<std::pair<std::string, std::string>>{
           {"0.2.0", ""},
           {"0.3.0", ""},
           {"0.1.15", "scale is built for tvm-ffi 0.2, and here is 0.1"},
           {"1.0.0", "scale is built for tvm-ffi 0.2, and here is 1.0"}}) {
    world.packages.tvm_ffi = *parse_version(here);
    CHECK(world.misfit() == misfit);
  }
  world.packages.tvm_ffi = {};
  CHECK(world.misfit() == "");
}
