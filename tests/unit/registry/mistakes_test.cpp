// All that is wrong with an op.yaml is said in one run.
#include "spec_world.h"

namespace dsbuild {
namespace {

TEST_CASE("all mistakes of an op.yaml are said in one run") {
  const SpecWorld world;
  CHECK(world.errors("name: X y\nsorces: [a.cu]\nstd: {cxx: 18, nvcc: 13}\nflags: {cxx: [-O9, -fast]}\n"
                     "defines: {1A: 2, B: {valu: 3}}\nrequires: [{cuda: old}, {cpu: avx2, hnt: x}]\n"
                     "exports: [f, 2f, f]\n") == std::vector<std::string>{"2:1", "1:7", "5:11", "5:22",
                                                                          "3:12", "3:22", "4:15", "4:20",
                                                                          "6:19", "6:37", "7:14", "7:18"});
  const std::string sources =
      "name: x\nsources: [gone.cu, {path: a.cu, seconds: no}, lost.cu, {path: b.cpp, archs: {min: 8.0}}]\n";
  CHECK(world.errors(sources) == std::vector<std::string>{"2:11", "2:42", "2:47", "2:63"});
  CHECK(world.errors(sources + "archs: {min: high, only: [9.0x, 9.0a]}\n") ==
        std::vector<std::string>{"3:14", "3:27", "2:11", "2:42", "2:47", "2:63"});
  // What a source may be depends on the backend.
  CHECK(world.errors(sources + "backend: cud\n") == std::vector<std::string>{"3:10"});
}

TEST_CASE("what is not there may be what an unknown key was meant to be") {
  const SpecWorld world;
  CHECK(world.errors("nmae: x\nsorces: [a.cu]\n") == std::vector<std::string>{"1:1", "2:1"});
  CHECK(world.errors("description: x\n") == std::vector<std::string>{"1:1", "1:1"});
}

TEST_CASE("a source that is not there is one that is, elsewhere or nearly of its name") {
  SpecWorld world;
  world.files.add_file("/src/deep/er/kernel.cu", "");
  const auto what = [&](const std::string& source) {
    return world.error("name: x\nsources: [" + source + "]\n");
  };
  CHECK(what("one.cu").find("'one.cu' is not there (did you mean 'bwd/one.cu'?)") != std::string::npos);
  CHECK(what("kernel.cu").find("(did you mean 'deep/er/kernel.cu'?)") != std::string::npos);
  CHECK(what("bwd/on.cu").find("(did you mean 'bwd/one.cu'?)") != std::string::npos);
  CHECK(what("hidden.cu").find("did you mean") == std::string::npos);
}

}  // namespace
}  // namespace dsbuild
