#include "hip/hipify_step.h"

#include <catch2/catch.hpp>

#include "base/args.h"
#include "base/digest.h"
#include "exec/local_runner.h"
#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"

using namespace dsbuild;

namespace {

// A build folder with a cache, and a hipify that marks what holds "cuda".
struct World {
  FakeFileSystem files;
  FakeProcessRunner processes;
  Environment environment{{"PATH", "/usr/bin"}, {"LD_LIBRARY_PATH", "/lib"}};
  Path program;
  System system{files, processes, environment, program};
  std::string said;
  HipifyStep step{"hipify/adam.list",
                  "/usr/bin/python3",
                  "/torch/utils/hipify",
                  {"-Ipack/include"},
                  {"pack/a/adam.cu", "pack/a/plain.cpp"}};

  World() {
    files.current = "/build";
    files.add_directory("/build/tools");
    files.add_file("/build/tools/store", "/cache/store\n");
    files.add_file("/build/tools/digests", "/cache/digests\n");
    files.add_file("/build/tools/hipify.id", "hipify 2.0.0\n");
    files.add_file("/build/pack/a/adam.cu",
                   "#include \"near.h\"\n#include <far.h>\n#include <vector>\ncuda\n");
    files.add_file("/build/pack/a/plain.cpp", "int plain;\n");
    files.add_file("/build/pack/a/near.h", "cuda near\n");
    files.add_file("/build/pack/include/far.h", "#include \"../a/deep.h\"\n");
    files.add_file("/build/pack/a/deep.h", "deep\n");
    files.add_file("/build/pack/a/unused.h", "cuda\n");
    processes.on({"python3"}, [this](const Command& command) { return hipify(command); });
  }

  // Behind "-I -c SCRIPT PACKAGE": the folder, include folders, "--", sources.
  ProcessResult hipify(const Command& command) {
    const Path root = command.argv.at(5);
    std::string answer;
    for (const std::string& path : files.tree("/build" / root)) {
      if (files.kind(path) != FileKind::file || files.bytes(path).find("cuda") == std::string::npos) continue;
      const std::string made =
          Path(path).replace_extension("").string() + (path.ends_with(".cu") ? ".hip" : "_hip.h");
      files.add_file(made, "HIP of " + files.bytes(path));
      const std::string below = ("/build" / root).string() + "/";
      if (path.ends_with(".cu"))
        answer += path.substr(below.size()) + "\t" + made.substr(below.size()) + "\n";
    }
    return FakeProcessRunner::succeeded(answer + "a/plain.cpp\ta/plain.cpp\n", "it talks");
  }

  Result<ResultOrigin> run() {
    const StepWords words = {"hipify", "tools/hipify.id", step.output, "--", step.python, step.package};
    ActionRun action(words, system);
    MemoryTurn turn({}, step.output);
    if (action.is_up_to_date()) return ResultOrigin::record;
    action.begin();
    const Print print = [this](std::string_view text) { said += text; };
    LocalRunner runner(system.processes);
    Engine engine(action, turn, system, runner, print);
    DSBUILD_TRY(end, run_hipify_step(step, engine));
    return end.made_of;
  }

  std::string made(const std::string& path) const { return files.bytes("/build/hipify/adam/" + path); }
};

}  // namespace

TEST_CASE("the tree has the sources as HIP under their names, and the headers that they name") {
  World world;
  CHECK(world.run().value() == ResultOrigin::tools);
  CHECK(world.made("a/adam.cu").starts_with("HIP of #include"));
  CHECK(world.made("a/plain.cpp") == "int plain;\n");
  CHECK(world.made("a/near.h") == "cuda near\n");
  CHECK(world.made("a/near_hip.h") == "HIP of cuda near\n");
  CHECK(world.made("include/far.h") != "");
  CHECK(world.made("a/deep.h") == "deep\n");
  CHECK_FALSE(world.files.exists("/build/hipify/adam/a/unused.h"));
  CHECK_FALSE(world.files.exists("/build/hipify/adam.list.run"));
  CHECK(world.said == "");
  CHECK(world.files.bytes("/build/hipify/adam.list").find(sha256("deep\n") + " a/deep.h\n") !=
        std::string::npos);
}

TEST_CASE("hipify is started in isolation, with the folders and sources below the copy") {
  World world;
  REQUIRE(world.run());
  const Command& command = world.processes.started.at(0);
  CHECK(Args(command.argv.begin(), command.argv.begin() + 3) == Args{"/usr/bin/python3", "-I", "-c"});
  CHECK(Args(command.argv.begin() + 4, command.argv.end()) ==
        Args{"/torch/utils/hipify", "hipify/adam.list.run", "include", "--", "a/adam.cu", "a/plain.cpp"});
  // The sources are read, and stay as they are.
  for (const std::string& path : world.files.writes)
    CHECK(path.find("/build/pack") == std::string::npos);
}

TEST_CASE("its record holds until a file that it read is another") {
  World world;
  REQUIRE(world.run());
  CHECK(world.run().value() == ResultOrigin::record);
  world.files.add_file("/build/pack/a/unused.h", "still not read\n");
  CHECK(world.run().value() == ResultOrigin::record);
  world.files.add_file("/build/pack/a/deep.h", "deeper\n");
  CHECK(world.run().value() == ResultOrigin::tools);
  CHECK(world.made("a/deep.h") == "deeper\n");
  world.files.add_file("/build/pack/a/far.h", "a nearer one\n");
  CHECK(world.run().value() == ResultOrigin::tools);
  CHECK(world.made("a/far.h") == "a nearer one\n");
}

TEST_CASE("what is no longer made goes, and damage is mended") {
  World world;
  REQUIRE(world.run());
  world.files.add_file("/build/pack/a/adam.cu", "cuda alone\n");
  REQUIRE(world.run());
  CHECK_FALSE(world.files.exists("/build/hipify/adam/a/near_hip.h"));
  world.files.add_file("/build/hipify/adam/a/adam.cu", "damaged");
  CHECK(world.run().value() != ResultOrigin::record);
  CHECK(world.made("a/adam.cu") == "HIP of cuda alone\n");
}

TEST_CASE("files whose bytes stay the same are not written") {
  World world;
  REQUIRE(world.run());
  world.files.writes.clear();
  world.files.add_file("/build/pack/a/deep.h", "deeper\n");
  REQUIRE(world.run());
  CHECK(std::ranges::count(world.files.writes, "/build/hipify/adam/a/adam.cu") == 0);
  CHECK(std::ranges::count(world.files.writes, "/build/hipify/adam/a/deep.h") == 1);
}

TEST_CASE("what another build folder made of the same is taken from the cache") {
  World world;
  REQUIRE(world.run());
  const std::string list = world.files.bytes("/build/hipify/adam.list");
  REQUIRE(world.files.remove_all("/build/hipify"));
  CHECK(world.run().value() == ResultOrigin::cache);
  CHECK(world.processes.starts() == 1);
  CHECK(world.files.bytes("/build/hipify/adam.list") == list);
  CHECK(world.made("a/near_hip.h") == "HIP of cuda near\n");
}

TEST_CASE("where hipify fails, what it said is told, and nothing is made") {
  World world;
  world.processes.on({"python3"},
                     FakeProcessRunner::failed("Traceback …\nInputError: no kernel end found\n"));
  CHECK(world.run().value() == ResultOrigin::nothing_said);
  CHECK(world.said.find("no kernel end found") != std::string::npos);
  CHECK_FALSE(world.files.exists("/build/hipify/adam"));
}
