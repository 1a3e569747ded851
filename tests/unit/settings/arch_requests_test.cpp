#include "settings/arch_requests.h"

#include <catch2/catch.hpp>

#include "arch/amd.h"
#include "arch/intel.h"
#include "arch/nvidia.h"
#include "base/text.h"
#include "fakes/fake_file_system.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

struct AskedWorld {
  FakeFileSystem files;
  Arguments arguments;
  Environment environment;

  Settings settings() const { return load_settings(arguments, environment, files, "/data").value(); }
  // "cuda hip", or the error's code and what.
  std::string selected(const std::vector<Target>& gpus = {}, const Vendor* of_torch = nullptr) const {
    const auto vendors = selected_vendors(settings(), gpus, of_torch);
    if (!vendors) return vendors.error().code + ": " + vendors.error().what;
    std::vector<std::string> words;
    for (const Vendor* vendor : *vendors)
      words.emplace_back(vendor->backend());
    return join(words, " ");
  }
  // "gfx942 by --arch".
  std::string request(const Vendor& vendor) const {
    const auto found = request_for(settings(), vendor);
    if (!found) return found.error().code + ": " + found.error().what;
    const ArchRequest& asked = found->value;
    const std::string words = std::string(asked.all ? "all " : "") + (asked.native ? "native " : "");
    return words + (asked.is_default ? "default" : arch_text(asked.targets) + " by " + found->origin);
  }
};

const Target k_hopper = NvidiaTarget{{9, 0}};
const Target k_mi300 = amd().parse_name("gfx942").value();

}  // namespace

TEST_CASE("the archs say for whose GPUs is built, and --backend above them") {
  AskedWorld world;
  CHECK(world.selected() == "cuda");
  CHECK(world.selected({}, &amd()) == "hip");
  world.arguments["--arch"] = "gfx942";
  CHECK(world.selected() == "hip");
  CHECK(world.selected({}, &nvidia()) == "hip");
  world.arguments["--arch"] = "spir64;gfx942,8.0+PTX";
  CHECK(world.selected() == "cuda hip sycl");
  world.arguments["--arch"] = "native";
  CHECK(world.selected({k_mi300}) == "hip");
  CHECK(world.selected({k_mi300, k_hopper}) == "cuda hip");
  CHECK(world.selected() == "cuda");
  world.arguments["--arch"] = "all";
  CHECK(world.selected({k_mi300}) == "cuda");
  world.arguments["--backend"] = "hip,cuda";
  CHECK(world.selected() == "cuda hip");
}

TEST_CASE("--backend and an arch that it leaves out contradict each other") {
  AskedWorld world;
  world.arguments["--backend"] = "cuda";
  world.arguments["--arch"] = "8.0,gfx942";
  CHECK(world.selected() == "arch_of_other_backend: 'gfx942' is of hip, which --backend leaves out");
  world.arguments["--backend"] = "slices";
  CHECK(world.selected() == "cuda hip");
}

TEST_CASE("a variable of torch's counts for its own vendor where that is selected, and selects nothing") {
  AskedWorld world;
  world.environment = {{"TORCH_CUDA_ARCH_LIST", "8.0"},
                       {"PYTORCH_ROCM_ARCH", "gfx90a:xnack-;gfx942 gfx1100"},
                       {"TORCH_XPU_ARCH_LIST", "pvc,xe-lpg"}};
  CHECK(world.selected() == "cuda");
  world.arguments["--backend"] = "hip";
  CHECK(world.selected() == "hip");
  CHECK(world.request(amd()) == "gfx1100 gfx90a:xnack- gfx942 by PYTORCH_ROCM_ARCH");
  CHECK(world.request(intel()) == "pvc mtl-u mtl-h by TORCH_XPU_ARCH_LIST");
  CHECK(world.request(nvidia()) == "8.0 by TORCH_CUDA_ARCH_LIST");
  world.arguments["--arch"] = "gfx1201";
  CHECK(world.request(amd()) == "gfx1201 by --arch");
  world.arguments["--backend"] = "hip,cuda";
  CHECK(world.request(nvidia()) == "8.0 by TORCH_CUDA_ARCH_LIST");
  world.arguments["--arch"] = "all";
  CHECK(world.request(amd()) == "all none by --arch");
  world.arguments.values.erase("--arch");
  world.environment["PYTORCH_ROCM_ARCH"] = " ";
  CHECK(world.request(amd()) == "default");
  world.environment["PYTORCH_ROCM_ARCH"] = "gfx90a;9.0";
  CHECK(world.request(amd()) ==
        "arch_of_other_backend: '9.0' is of cuda, and PYTORCH_ROCM_ARCH of hip alone");
  world.environment["PYTORCH_ROCM_ARCH"] = "gfx90";
  CHECK(world.request(amd()).starts_with("unknown_arch: "));
  CHECK(world.selected() == "cuda hip");
}

TEST_CASE("TORCH_CUDA_ARCH_LIST is of CUDA alone") {
  AskedWorld world;
  world.environment["TORCH_CUDA_ARCH_LIST"] = "8.0;gfx942";
  const auto loaded = load_settings(world.arguments, world.environment, world.files, "/data");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == "arch_of_other_backend");
  CHECK(loaded.error().fix == "Name it by --arch, or in PYTORCH_ROCM_ARCH.");
}

TEST_CASE("--backend says in one list for whose GPUs is built and how CUDA files are compiled") {
  const auto shown = [](const std::string& value) {
    AskedWorld world;
    world.arguments["--backend"] = value;
    const auto loaded = load_settings(world.arguments, world.environment, world.files, "/data");
    if (!loaded) return loaded.error().code + ": " + loaded.error().what;
    for (const SettingRow& row : setting_rows(*loaded))
      if (row.name == "backend") return row.value;
    return std::string("no row");
  };
  CHECK(shown("auto") == "auto");
  CHECK(shown("hip") == "hip");
  CHECK(shown("hip, cuda,slices") == "hip,cuda,slices");
  CHECK(shown("nvcc") == "nvcc");
  CHECK(shown("hip,hip") == "hip");
  CHECK(shown("nvcc,slices") == "bad_choice: 'nvcc' and 'slices' are two ways to compile CUDA files");
  CHECK(shown("rocm") == "bad_choice: 'rocm' is not one of the choices");
}

}  // namespace dsbuild
