#include "registry/op_backends.h"

#include <catch2/catch.hpp>

#include "arch/amd.h"
#include "arch/nvidia.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

struct World {
  FakeFileSystem files;
  Registry registry;
  SelectedOps selected;

  void add(const std::string& name, const std::string& body) {
    for (const char* file : {"a.cu", "a.cpp", "hip.cpp"})
      files.add_file(std::string("/pack/") + file, "//\n");
    const auto spec =
        parse_op_spec("name: " + name + "\n" + body, "/pack/" + name + "/op.yaml", files, "/pack");
    if (!spec) throw std::runtime_error(spec.error().what);
    registry.ops.emplace_back(*spec);
    selected.ops.push_back({name, Wanted::by_all, "--ops", {}});
  }
  std::vector<std::string> selected_names() const {
    std::vector<std::string> names;
    for (const SelectedOp& op : selected.ops)
      names.push_back(op.name);
    return names;
  }
};

using Names = std::vector<std::string>;
constexpr const char* k_both = "backends: [cuda, hip]\nsources: [a.cu, {path: hip.cpp, backend: hip}]\n";

}  // namespace

TEST_CASE("an op with several backends is that of the one that is asked for, under its own name") {
  World world;
  world.add("adam", k_both);
  split_by_backend(world.registry, world.selected, {&amd()});
  CHECK(world.registry.names() == Names{"adam"});
  CHECK(world.registry.find("adam")->spec().backend == BackendKind::hip);
  CHECK(world.registry.find("adam")->spec().op_name() == "adam");
  CHECK(world.registry.find("adam")->sources({}).size() == 2);
}

TEST_CASE("for NVIDIA's GPUs an op with several backends is what it was with one") {
  World world, plain;
  world.add("adam", k_both);
  plain.add("adam", k_both);
  split_by_backend(world.registry, world.selected, {&nvidia()});
  CHECK(world.registry == plain.registry);
  CHECK(world.registry.find("adam")->sources({}).size() == 1);
}

TEST_CASE("where two of its backends are asked for it is two ops, told apart by their names") {
  World world;
  world.add("adam", k_both);
  world.add("adam_cpu", "backend: cpu\nsources: [a.cpp]\n");
  split_by_backend(world.registry, world.selected, {&nvidia(), &amd()});
  CHECK(world.registry.names() == Names{"adam.cuda", "adam.hip", "adam_cpu"});
  CHECK(world.selected_names() == world.registry.names());
  CHECK(world.registry.find("adam.hip")->spec().op_name() == "adam");
  CHECK(world.registry.find("adam.cuda")->spec().backend == BackendKind::cuda);
}

TEST_CASE("an op for none of the GPUs that are asked for stays what it is") {
  World world;
  world.add("attention", "backend: cuda\nsources: [a.cu]\n");
  split_by_backend(world.registry, world.selected, {&amd()});
  CHECK(world.registry.find("attention")->spec().backend == BackendKind::cuda);
}

TEST_CASE("what an op needs is for the same GPUs") {
  World world;
  world.add("adam", std::string(k_both) + "needs: [base]\n");
  world.add("base", k_both);
  split_by_backend(world.registry, world.selected, {&nvidia(), &amd()});
  CHECK(world.registry.find("adam.hip")->needs({}) == Names{"base.hip"});
  CHECK(world.registry.find("adam.cuda")->needs({}) == Names{"base.cuda"});
}

TEST_CASE("what is asked of CUDA's toolkit is not asked of HIP's") {
  World world;
  world.add("adam", std::string(k_both) + "requires: [{cuda: \">=11.0\"}]\n");
  split_by_backend(world.registry, world.selected, {&amd()});
  CHECK(world.registry.find("adam")->requirements({}).empty());
}

TEST_CASE("what HIP asks of an op is asked where it is built for that alone") {
  World world;
  world.add("adam",
            "backends: [cuda, hip]\nsources: [{path: a.cu, hipify: true}]\n"
            "defines: {LANES: rocm.wavefront}\nrequires: [{cuda: '>=11.0'}]\n");
  split_by_backend(world.registry, world.selected, {&nvidia(), &amd()});
  const auto kinds_of = [&](const char* name) {
    std::vector<RequirementKind> kinds;
    for (const Requirement& each : world.registry.find(name)->spec().requires_)
      kinds.push_back(each.kind);
    return kinds;
  };
  CHECK(kinds_of("adam.cuda") == std::vector{RequirementKind::cuda});
  CHECK(kinds_of("adam.hip") == std::vector{RequirementKind::hipify, RequirementKind::wavefront});
}
