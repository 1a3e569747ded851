#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "../plan/plan_world.h"
#include "ninja/ninja_file.h"
#include "ninja/quote.h"
#include "plan/slice_edges.h"
#include "support/test_data.h"

using namespace dsbuild;

namespace {

// DSBUILD_WRITE_GOLDEN=1 writes the file anew; its difference is then read by whoever commits it.
std::string golden(const std::string& name, const std::string& now) {
  const std::string path = std::string(DSBUILD_TESTS_DIR) + "/golden/" + name;
  if (std::getenv("DSBUILD_WRITE_GOLDEN")) std::ofstream(path) << now;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

PlanWorld seed_world() {
  PlanWorld world;
  world.settings.backend.value = CudaBackend::nvcc;
  world.add_cuda_op("adam");
  world.add_cuda_op("evoformer", "archs: {min: \"7.0\"}\n");
  world.add_cuda_op("quantizer", "archs: {min: \"8.0\"}\n");
  world.add_op("cpu_adam", "backend: cpu\nsources: [cpu_adam.cpp]\n");
  return world;
}

std::string rendered(PlanWorld& world, const std::string& archs) {
  const auto plan = world.plan(archs);
  REQUIRE(plan);
  const auto text = render_ninja(world.build(*plan));
  REQUIRE(text);
  return *text;
}

// nvcc's own steps for 8.0 and 9.0+PTX, without those of an arch that is not asked for.
LearntCommands learnt(const Args& nvcc) {
  const auto is_asked_for = [&](const std::string& arch) {
    return std::any_of(nvcc.begin(), nvcc.end(), [&](const std::string& word) {
      return word.find("arch=" + arch) != std::string::npos;
    });
  };
  LearntCommands commands = parse_nvcc_commands(test_data("unit/nvcc/data/steps-13.0.txt"));
  std::erase_if(commands->devices, [&](const DeviceCommands& device) { return !is_asked_for(device.arch); });
  std::erase_if(commands->fatbinary, [&](const std::string& word) {
    return word.find("compute_80") != std::string::npos && !is_asked_for("compute_80");
  });
  return commands;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("the seed example's build.ninja is the golden file") {
  PlanWorld world = seed_world();
  const std::string text = rendered(world, "7.0;8.0+PTX");
  CHECK(text == golden("seed.ninja", text));
}

TEST_CASE("the seed example's build.ninja by slices is the golden file: each slice has its own pair") {
  PlanWorld world;
  world.add_cuda_op("adam");
  world.add_cuda_op("quantizer", "archs: {min: \"9.0\"}\n");
  BuildPlan plan = world.build_by_op(world.plan("8.0;9.0+PTX").value());
  slice_cuda_edges(plan, {learnt});
  put_longest_first(plan.edges, world.history, "native");
  const auto text = render_ninja(plan);
  REQUIRE(text);
  CHECK(*text == golden("slices.ninja", *text));
}

TEST_CASE("each pair is written once, shared once, and sm_70 only beside the two ops that keep it") {
  PlanWorld world = seed_world();
  const std::string text = rendered(world, "7.0;8.0+PTX");
  CHECK(count_of(text, "arch=compute_70,code=sm_70") == 1);
  CHECK(count_of(text, "arch=compute_80,code=sm_80") == 1);
  CHECK(count_of(text, "arch=compute_80,code=compute_80") == 1);
  CHECK(count_of(text, "\nshared = ") == 1);
  CHECK(count_of(text, "gencode = $sm_70 $shared\n") == 2);
  CHECK(count_of(text, "gencode = $shared\n") == 1);
  CHECK(count_of(text, "# extra: sm_70\n") == 2);
}

TEST_CASE("where the shared targets are not neighbours in an op's set, the set is written out in order") {
  PlanWorld world;
  world.toolkit = fake_toolkit(1208);
  world.add_cuda_op("wide");
  world.add_cuda_op("narrow", "archs: {exclude: [\"8.0\"]}\n");
  CHECK(count_of(rendered(world, "7.5;8.0;9.0"), "gencode = $sm_75 $sm_80 $sm_90\n") == 1);
}

TEST_CASE("a flag with a line break is refused, naming the op") {
  PlanWorld world;
  world.add_cuda_op("adam");
  const auto plan = world.plan("8.0");
  REQUIRE(plan);
  BuildPlan build = world.build(*plan);
  build.edges[0].flags.push_back("-DX=a\nb");
  const auto text = render_ninja(build);
  REQUIRE_FALSE(text);
  CHECK(text.error().code == "bad_name");
  CHECK(text.error().where == "adam");
}

TEST_CASE("a command too long for one argument of a process is refused, naming op and source") {
  PlanWorld world;
  world.add_cuda_op("adam");
  const auto plan = world.plan("8.0");
  REQUIRE(plan);
  BuildPlan build = world.build(*plan);
  build.edges[0].flags.push_back("-DX=" + std::string(90'000, 'x'));
  CHECK(render_ninja(build));
  build.edges[0].flags.push_back("-DY=" + std::string(41'000, 'y'));
  const auto text = render_ninja(build);
  REQUIRE_FALSE(text);
  CHECK(text.error().code == "command_too_long");
  CHECK(text.error().where == "adam: " + build.edges[0].source);
}

TEST_CASE("objects have plain names, whatever their sources are called") {
  SourceSpec source;
  source.path = "a b/c&d.cu";
  CHECK(object_path("adam", source).find_first_of(" &") == std::string::npos);
  SourceSpec other;
  other.path = "a b/c d.cu";
  CHECK(object_path("adam", source) != object_path("adam", other));
  source.path = std::string(250, 'n') + ".cu";
  other.path = std::string(249, 'n') + "m.cu";
  CHECK(object_path("adam", source) != object_path("adam", other));
  CHECK(Path(object_path("adam", source)).filename().string().size() < 200);
  CHECK(Path(object_path("adam", source)).parent_path().filename().string().size() < 200);
}

TEST_CASE("a path with '|' is refused: Ninja has no escape for it") {
  CHECK(ninja_path_refusal("a|b") == "'|'");
  CHECK(ninja_path_refusal("a b$:'\"\xc3\xa9").empty());
}

TEST_CASE("paths and words are escaped as Ninja's manual says, and ordinary ones are left alone") {
  CHECK(ninja_path("obj/a b$c:d.o") == "obj/a$ b$$c$:d.o");
  CHECK(ninja_word("-O3") == "-O3");
  CHECK(ninja_word("-std=c++17") == "-std=c++17");
  CHECK(ninja_word("a b") == "'a b'");
  CHECK(ninja_word("$HOME") == "'$$HOME'");
}
