// From an op's name to a library that fits, with a toolkit and GPUs that are made up.
#include "load/load_op.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "arch/nvidia.h"
#include "load/jit_build.h"
#include "sys/lock.h"
#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

const Target k_sm_80 = NvidiaTarget{{8, 0}}, k_sm_90 = NvidiaTarget{{9, 0}};

struct LoadWorld : CudaWorld {
  LoadMachine machine;
  Path path;
  Patience patience;
  std::optional<EdgeLimit> edge_limit;

  LoadWorld() {
    settings.arch = {};
    settings.arch.value.is_default = true;
    machine.gpus = {{k_sm_90}, *parse_version("13.0")};
  }
  Result<LoadedOp> load(const std::string& op = "scale") {
    Session session(settings, system, events, {{}, {}, edge_limit});
    return load_op({request(), op, path, machine, patience}, session);
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
  CHECK(world.error().find("no_gpu: no GPU is visible") == 0);
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
  CHECK(refused.error().fix.find("--ops scale --out dsbuild-out-scale --arch 9.0+PTX\n") !=
        std::string::npos);
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
    world.machine.gpus.archs = {k_sm_80};
    REQUIRE(world.files->append(world.settings.out.value / "scale.so", "x"));
    reason = "scale.so is not what its manifest says";
  }
  const auto built = world.load();
  REQUIRE(built);
  CHECK(built->from == "built");
  CHECK(built->passed_over == std::vector<std::string>{place + reason});
}

TEST_CASE("Where nothing can be built either, the error says what there was and why it does not fit") {
  LoadWorld world;
  world.prebuild("8.0");
  world.settings.cuda_home = {world.folder.path() / "no toolkit", "--cuda-home"};
  const auto refused = world.load();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().exit == Exit::unmet);
  CHECK(refused.error().what.find("\n  DSBUILD_BUNDLE " + world.settings.out.value.string() +
                                  ": scale has no image for 9.0 (it has 8.0)") != std::string::npos);
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

TEST_CASE("What is built is found without planning, and is not once its source is another") {
  LoadWorld world;
  REQUIRE(world.load());
  const auto found = [&] {
    const LoadRequest request{world.request(), "scale", {}, world.machine, {}};
    return find_built(request, jit_folder(request, world.system).value(), world.system);
  };
  REQUIRE(found());
  CHECK(found()->edges_run == 0);
  CHECK(found()->coverage.at(0).text() == "native (sm_90)");
  world.system.environment["RANK"] = "7";
  CHECK(found());
  world.system.environment["CPATH"] = "/elsewhere";
  CHECK_FALSE(found());
  world.system.environment.erase("CPATH");
  CHECK(found());
  world.write("pack/src/scale.cu", "// export: scale_run\n__global__ void other() {}\n");
  CHECK_FALSE(found());
  CHECK(world.load()->edges_run > 0);
}

TEST_CASE("Who waits for a builder that is stuck builds for itself, and both are found") {
  LoadWorld world;
  const LoadRequest request{world.request(), "scale", {}, world.machine, {}};
  const Path folder = jit_folder(request, world.system).value().folder;
  const auto lock = take_lock(folder / "turn", "dsbuild load scale", std::nullopt, {}).value();
  BuilderNote note;
  note.node = "here";
  note.begun = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  note.phase = "planning";
  lock->tell(render_note(note));
  world.patience = {1, 0.3, 0.3};
  const auto built = world.load();
  REQUIRE(built);
  CHECK(built->library == folder / "turn1" / "bundle" / "scale.so");
  CHECK(world.load()->library == built->library);  // without a wait
}

TEST_CASE("--lock-timeout bounds the wait for another process that builds") {
  LoadWorld world;
  const LoadRequest request{world.request(), "scale", {}, world.machine, {}};
  const Path folder = jit_folder(request, world.system).value().folder;
  const auto lock = take_lock(folder / "turn", "dsbuild load scale", std::nullopt, {}).value();
  world.settings.lock_timeout = {0, "--lock-timeout"};
  const std::string error = world.error();
  CHECK(error.find("locked: still locked after 0 s by ") == 0);
  CHECK(error.find("dsbuild load scale") != std::string::npos);
}

TEST_CASE(
    "A tool that takes far longer than it ever did is ended, and what it did not make is made the next "
    "time") {
  LoadWorld world;
  REQUIRE(world.load());
  world.write("pack/src/scale.cu", "// export: scale_run\n__global__ void other() {}\n");
  world.behave(R"("steps": true, "text": true, "sleep": 30)");
  world.edge_limit = EdgeLimit{1, 1};
  const auto begun = std::chrono::steady_clock::now();
  const std::string error = world.error();
  CHECK(error.find("out_of_time: it had run for ") == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(15));
  world.behave(R"("steps": true, "text": true)");
  CHECK(world.load()->edges_run > 0);
}

TEST_CASE("An op that the pack does not have is that error") {
  LoadWorld world;
  CHECK(world.error("scal").find("unknown_op: no op 'scal'") == 0);
}
