// From an op's name to a library that fits, with a toolkit and GPUs that are made up.
#include "load/load_op.h"

#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "unit/build/cuda_world.h"

using namespace dsbuild;

namespace {

const Target k_ampere = NvidiaTarget{{8, 0}}, k_hopper = NvidiaTarget{{9, 0}};

struct LoadWorld : CudaWorld {
  LoadMachine machine;
  Path path;

  LoadWorld() {
    settings.arch = {};
    settings.arch.value.is_default = true;
    machine.gpus = {{k_hopper}, *parse_version("13.0")};
  }
  Result<LoadedOp> load(const std::string& op = "scale") {
    Session session(settings, system, events);
    return load_op({request(), op, path, machine}, session);
  }
  std::string error(const std::string& op = "scale") {
    const auto loaded = load(op);
    return loaded ? "none" : loaded.error().code + ": " + loaded.error().what;
  }
  // A bundle for other archs, named by DSBUILD_BUNDLE.
  void prebuild(const std::string& archs) {
    const Settings own = settings;
    ask_for(archs);
    REQUIRE(build());
    settings = own;
    settings.bundle = {settings.out.value, "DSBUILD_BUNDLE"};
  }
};

}  // namespace

TEST_CASE("An op is built for the GPUs that are visible, and built once") {
  LoadWorld world;
  const auto built = world.load();
  REQUIRE(built);
  CHECK(built->from == "built");
  CHECK(built->edges_run > 0);
  CHECK(arch_text(built->op.archs) == "9.0+PTX");
  CHECK(built->coverage.at(0).text() == "native (sm_90)");
  CHECK(built->library.filename() == "scale.so");
  CHECK(world.files->kind(built->library) == FileKind::file);
  const auto again = world.load();
  REQUIRE(again);
  CHECK(again->edges_run == 0);
  CHECK(again->library == built->library);
}

TEST_CASE("The archs that are asked for come before the GPUs, with PTX of the highest where they have none") {
  LoadWorld world;
  world.ask_for("8.0");
  const auto built = world.load();
  REQUIRE(built);
  CHECK(arch_text(built->op.archs) == "8.0+PTX");
  CHECK(built->coverage.at(0).text() == "by PTX (compute_80)");
  world.machine.gpus.archs = {NvidiaTarget{{7, 5}}};
  CHECK(world.error() == "no_fit: built for 8.0+PTX: scale has no image for 7.5 (it has 8.0+PTX)");
}

TEST_CASE("Without GPUs and archs a CUDA op cannot be built, a CPU op can") {
  LoadWorld world;
  world.machine.gpus = {};
  CHECK(world.error().find("no_gpu: scale is to be built for the GPUs of this machine") == 0);
  CHECK(world.load("one"));
}

TEST_CASE("Where building is off, the error says what would build it and why what is there does not do") {
  LoadWorld world;
  world.prebuild("8.0");
  world.settings.jit = {false, "DSBUILD_JIT"};
  const auto refused = world.load();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "jit_off");
  CHECK(refused.error().where == "DSBUILD_JIT");
  CHECK(refused.error().what.find("scale has no image for 9.0 (it has 8.0)") != std::string::npos);
  CHECK(refused.error().fix.find("--ops scale --arch \"9.0+PTX\"") != std::string::npos);
}

TEST_CASE("A prebuilt op that fits is taken") {
  LoadWorld world;
  world.prebuild("8.0;9.0");
  const auto taken = world.load();
  REQUIRE(taken);
  CHECK(taken->from == "DSBUILD_BUNDLE");
  CHECK(taken->library == world.settings.out.value / "scale.so");
  CHECK(taken->passed_over.empty());
  world.path = world.settings.out.value / "scale.so";
  CHECK(world.load()->from == "--path");
}

TEST_CASE("A prebuilt op that does not fit is passed over in a sentence, and built for this machine") {
  LoadWorld world;
  world.prebuild("8.0");
  const std::string place = "DSBUILD_BUNDLE " + world.settings.out.value.string() + ": ";
  std::string reason = "scale has no image for 9.0 (it has 8.0)";
  SECTION("no image") {}
  SECTION("damaged") {
    world.machine.gpus.archs = {k_ampere};
    REQUIRE(world.files->append(world.settings.out.value / "scale.so", "x"));
    reason = "scale.so is not what its manifest says";
  }
  const auto built = world.load();
  REQUIRE(built);
  CHECK(built->from == "built");
  CHECK(built->passed_over == std::vector<std::string>{place + reason});
}

TEST_CASE("What others can write to is not loaded, and a bundle that is named is there") {
  LoadWorld world;
  world.prebuild("9.0");
  std::filesystem::permissions(world.settings.out.value, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  CHECK(world.error().find("unsafe_folder: others can write to it") == 0);
  world.settings.bundle = {world.folder.path() / "nothing", "DSBUILD_BUNDLE"};
  CHECK(world.error().find("no_bundle") == 0);
}

TEST_CASE("An op that the pack does not have is that error") {
  LoadWorld world;
  CHECK(world.error("scal").find("unknown_op: no op 'scal'") == 0);
}
