// Where an op is built, and what counts for it.
#include "load/jit_folder.h"

#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

struct FolderWorld : CudaWorld {
  LoadMachine machine{{{NvidiaTarget{{9, 0}}}, *parse_version("13.0")}, ""};

  FolderWorld() {
    settings.arch = {};
    settings.arch.value.is_default = true;
  }
  JitFolder folder_of(const std::string& op = "scale") {
    return jit_folder({request(), op, {}, machine, {}}, system).value();
  }
};

}  // namespace

TEST_CASE("What launchers give each rank counts for nothing, what tools may read does") {
  const Environment environment = {{"RANK", "3"},
                                   {"LOCAL_RANK", "3"},
                                   {"SLURM_PROCID", "3"},
                                   {"MASTER_PORT", "1"},
                                   {"CUDA_VISIBLE_DEVICES", "3"},
                                   {"ROCR_VISIBLE_DEVICES", "3"},
                                   {"ZE_AFFINITY_MASK", "3"},
                                   {"OMPI_COMM_WORLD_RANK", "3"},
                                   {"DSBUILD_JIT", "0"},
                                   {"PATH", "/bin"},
                                   {"CPATH", "/include"},
                                   {"RANKING", "x"}};
  CHECK(without_launchers(environment) ==
        Environment{{"CPATH", "/include"}, {"PATH", "/bin"}, {"RANKING", "x"}});
}

TEST_CASE("Builds that differ have folders of their own, those of one thing share one") {
  FolderWorld world;
  const JitFolder first = world.folder_of();
  CHECK(world.folder_of().folder == first.folder);
  CHECK(world.folder_of().asked == first.asked);
  CHECK(first.folder.parent_path() == world.settings.cache_dir / "jit");
  CHECK(world.folder_of("one").folder != first.folder);
  world.machine.gpus.archs = {NvidiaTarget{{8, 0}}};
  CHECK(world.folder_of().folder != first.folder);
  const Path ampere = world.folder_of().folder;
  world.ask_for("9.0");
  CHECK(world.folder_of().folder != ampere);
  CHECK(world.folder_of().folder != first.folder);
}

TEST_CASE("TORCH_EXTENSIONS_DIR holds what is built where it is set") {
  FolderWorld world;
  world.system.environment["TORCH_EXTENSIONS_DIR"] = (world.folder.path() / "extensions").string();
  CHECK(world.folder_of().folder.parent_path() == world.folder.path() / "extensions" / "dsbuild");
}

TEST_CASE("On a disk that is not known to be of this machine alone nothing is built") {
  FolderWorld world;
  world.system.environment["TORCH_EXTENSIONS_DIR"] = "/proc/extensions";
  const std::string folder = world.folder_of().folder.string();
  CHECK((folder.starts_with("/tmp/dsbuild-") || folder.starts_with("/var/tmp/dsbuild-")));
}

TEST_CASE("An op that is called anything names no other folder") {
  FolderWorld world;
  const Path folder = world.folder_of("../../up/scale").folder;
  CHECK(folder.parent_path() == world.settings.cache_dir / "jit");
  CHECK(folder.filename().string().starts_with("op-"));
}
