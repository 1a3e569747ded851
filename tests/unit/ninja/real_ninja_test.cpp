// What the real Ninja makes of our text: the golden source is Ninja itself (`ninja -t commands`).
#include <catch2/catch.hpp>

#include "../plan/plan_world.h"
#include "ninja/ninja_file.h"
#include "sys/system.h"

using namespace dsbuild;

namespace {

struct TemporaryFolder {
  Path path;
  FileSystem& files;
  explicit TemporaryFolder(FileSystem& f) : files(f) {
    char name[] = "/tmp/dsbuild-ninja-XXXXXX";
    path = mkdtemp(name);
  }
  ~TemporaryFolder() { (void)files.remove_all(path); }
};

}  // namespace

TEST_CASE(
    "the commands that Ninja would run are the planned argument vectors, whatever characters they hold") {
  const auto files = make_real_file_system();
  const auto processes = make_real_process_runner();
  const Environment environment = read_environment();
  const auto ninja = find_program(*files, "ninja", environment.at("PATH"));
  if (!ninja) {
    WARN("skipped: no ninja on PATH");
    return;
  }
  PlanWorld world;
  world.add_cuda_op("adam");
  world.add_op("cpu_adam", "backend: cpu\nsources: [cpu_adam.cpp]\n");
  const auto plan = world.plan("7.0;8.0+PTX");
  REQUIRE(plan);
  BuildPlan build = world.build(*plan);
  const std::vector<std::string> hostile = {"-DA=a b",          "-DB='q'",   "-DC=\"q\"", "-DD=$HOME",
                                            "-DE=`x`",          "-DF=$$",    "-DG=a;b",   "-DH=\\",
                                            "-DI=\xe4\xb8\x96", "-DJ=#!*?~", "-DK=",      "-DL=a:b|c&d<e>"};
  for (Edge& edge : build.edges)
    if (edge.kind == EdgeKind::cuda_compile || edge.kind == EdgeKind::cxx_compile)
      edge.flags.insert(edge.flags.end(), hostile.begin(), hostile.end());

  TemporaryFolder folder(*files);
  REQUIRE(files->write_file(folder.path / "build.ninja", render_ninja(build).value()));
  for (const Edge& edge : build.edges) {
    Command command{{ninja->string(), "-t", "commands", "-s", edge.output},
                    environment,
                    folder.path,
                    std::chrono::seconds(20)};
    const auto result = processes->run(command);
    REQUIRE(result);
    REQUIRE(result->ok());
    std::vector<std::string> words = shell_split(trim(result->out));
    REQUIRE(words.front() == "exec");
    CHECK(std::vector<std::string>(words.begin() + 1, words.end()) == edge_argv(build, edge));
  }
}
