// A build with nothing to do is not planned again; anything else is.
#include "driver/null_build.h"

#include <catch2/catch.hpp>

#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

constexpr const char* k_asked = "build --ops all";

// Notes what is started.
class CountingProcesses : public ProcessRunner {
 public:
  explicit CountingProcesses(ProcessRunner& processes) : processes_(processes) {}
  Result<ProcessResult> run(const Command& command) override {
    const std::lock_guard guard(mutex_);
    started.push_back(command.argv);
    return processes_.run(command);
  }
  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>& inherited,
                                        const std::function<void(std::string_view)>& on_output,
                                        const std::function<bool()>& on_tick) override {
    started.push_back(command.argv);
    return processes_.run_on_terminal(command, inherited, on_output, on_tick);
  }

  std::vector<std::vector<std::string>> started;

 private:
  ProcessRunner& processes_;
  std::mutex mutex_;
};

struct RememberedWorld : BuildWorld {
  std::vector<Command> started_by_planning;

  // As the command does behind a build that did something.
  void build_and_remember() {
    const auto built = build();
    REQUIRE(built);
    const PlanAgain plan_again = [&](System& watched) -> Result<Plan> {
      for (const Command& command : started_by_planning)
        (void)watched.processes.run(command);
      Session session(settings, watched);
      return make_plan(request(), session);
    };
    remember_build({"the plan\n", built->outcome.bundle, 2, 0, std::nullopt}, k_asked, built->plan,
                   plan_again, system);
  }
  std::optional<UnchangedBuild> find(const std::string& asked = k_asked) {
    return find_unchanged_build(request(), asked, system);
  }
};

// CXX is a script that starts the compiler which `target` names, with the words of `options`.
struct ScriptWorld : RememberedWorld {
  const Path script = folder.path() / "script/g++";
  CountingProcesses counting{*processes};

  ScriptWorld() {
    write("script/g++",
          "#!/bin/sh\nfolder=$(dirname \"$0\")\n"
          "exec $(cat \"$folder/target\") $(cat \"$folder/options\") \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    write("script/target", (folder.path() / "compiler/g++").string());
    write("script/options", "-DFIRST");
    system.environment["CXX"] = script.string();
  }
  std::optional<UnchangedBuild> find_counted() {
    System counted{*files, counting, system.environment, system.program};
    return find_unchanged_build(request(), k_asked, counted);
  }
};

Command question(std::vector<std::string> argv, const Environment& environment) {
  Command command{std::move(argv), environment, {}, std::chrono::seconds(10)};
  command.is_question = true;
  return command;
}

}  // namespace

TEST_CASE("A build that changed nothing since is found, with what it said") {
  RememberedWorld world;
  CHECK_FALSE(world.find());
  world.build_and_remember();
  const auto unchanged = world.find();
  REQUIRE(unchanged);
  CHECK(unchanged->shown == "the plan\n");
  CHECK(unchanged->bundle.path == world.settings.out.value);
  CHECK(unchanged->ops == 2);
  CHECK_FALSE(unchanged->compared);
}

TEST_CASE("Another command line, environment or file is another build") {
  RememberedWorld world;
  world.build_and_remember();
  REQUIRE(world.find());
  CHECK_FALSE(world.find("build --ops one"));
  world.system.environment["DSBUILD_NEW"] = "1";
  CHECK_FALSE(world.find());
  world.system.environment.erase("DSBUILD_NEW");
  world.system.environment["PWD"] = "/elsewhere";  // the shell's own
  REQUIRE(world.find());
  SECTION("a source") {
    world.write_source("one", "int more;\n");
  }
  SECTION("a spec") {
    world.write("pack/two/op.yaml", "name: two\n");
  }
  SECTION("an op more") {
    world.add_op("three");
  }
  SECTION("a library of the bundle") {
    world.write("out/one.so", "damaged");
  }
  SECTION("a library of the build folder") {
    world.write("build/lib/one.so", "damaged");
  }
  SECTION("the bundle") {
    std::filesystem::remove_all(world.settings.out.value);
  }
  SECTION("the compiler") {
    world.write("compiler/g++", "#!/bin/sh\n");
  }
  SECTION("what is remembered") {
    const Path remembered = world.settings.build_dir.value / "unchanged";
    REQUIRE(world.files->append(remembered, "x"));
  }
  CHECK_FALSE(world.find());
}

TEST_CASE("A bundle that was signed since is planned once more") {
  RememberedWorld world;
  REQUIRE(world.build());  // the next graph has the longest edges first
  world.build_and_remember();
  const auto build_again = [&] {
    const auto built = world.build();
    REQUIRE(built);
    CHECK_FALSE(built->did_something);
    remember_results(k_asked, built->plan, world.system);
  };
  world.write("out/provenance.sigstore.json", "signature");
  CHECK_FALSE(world.find());
  build_again();
  const auto found = world.find();
  REQUIRE(found);
  CHECK(found->shown == "the plan\n");
  world.write("out/provenance.sigstore.json", "another");
  CHECK_FALSE(world.find());
  SECTION("a request that nothing is remembered of stays so") {
    world.system.environment["DSBUILD_NEW"] = "1";
    build_again();
    CHECK_FALSE(world.find());
  }
  SECTION("what was planned from is another by now") {
    const auto built = world.build();
    REQUIRE(built);
    world.write_source("one", "int more;\n");
    remember_results(k_asked, built->plan, world.system);
    CHECK_FALSE(world.find());
  }
}

TEST_CASE("Nothing is remembered of a plan that started a program for more than its answer") {
  RememberedWorld world;
  world.started_by_planning = {{{"true"}, world.system.environment, {}, std::chrono::seconds(10)}};
  world.build_and_remember();
  CHECK_FALSE(world.find());
}

TEST_CASE("A program that planning asked is asked again, and has to say the same") {
  RememberedWorld world;
  const std::string file = (world.folder.path() / "said").string();
  world.write("said", "tab\tand\nline");
  world.started_by_planning = {
      question({"sh", "-c", "cat \"$0\"; printf '\t\n\\\\' >&2", file}, world.system.environment)};
  world.build_and_remember();
  REQUIRE(world.find());
  world.write("said", "something else");
  CHECK_FALSE(world.find());
}

TEST_CASE("Nothing is remembered where one question got two answers") {
  RememberedWorld world;
  const std::string file = (world.folder.path() / "count").string();
  const Command command =
      question({"sh", "-c", "echo >> \"$0\"; cat \"$0\"", file}, world.system.environment);
  world.started_by_planning = {command, command};
  world.build_and_remember();
  CHECK_FALSE(world.files->read_file(world.settings.build_dir.value / "unchanged"));
}

TEST_CASE("A build in the tests' world asks no tool of this machine") {
  CudaWorld world;
  CountingProcesses counting{*world.processes};
  System counted{*world.files, counting, world.system.environment, world.system.program};
  REQUIRE(world.build_in(counted));
  for (const std::vector<std::string>& command : counting.started) {
    const Path program = command.front();
    INFO(program);
    const bool is_its_own =
        program.is_relative() || program.string().starts_with(world.folder.path().string());
    CHECK((is_its_own || program == DSBUILD_PROGRAM || program.filename() == "ninja"));
  }
}

TEST_CASE("A compiler's script is asked each question once, and nothing else is started") {
  ScriptWorld world;
  world.build_and_remember();
  REQUIRE(world.find_counted());
  std::set<std::vector<std::string>> questions;
  for (const auto& argv : world.counting.started) {
    CHECK(argv.front() == world.script.string());
    CHECK(questions.insert(argv).second);
  }
  CHECK(questions.count({world.script.string(), "--version"}) == 1);
  CHECK(questions.size() > 2);
}

TEST_CASE("A compiler's script that does something else is another build") {
  ScriptWorld world;
  world.build_and_remember();
  REQUIRE(world.find());
  SECTION("other options") {
    world.write("script/options", "-DSECOND");
  }
  SECTION("another compiler") {
    const Path other = world.folder.path() / "other/g++";
    std::filesystem::create_directories(other.parent_path());
    std::filesystem::copy_file(DSBUILD_FAKE_TOOLS, other);
    world.write("script/target", other.string());
  }
  SECTION("none") {
    world.write("script/target", "/nowhere/g++");
  }
  SECTION("a part of the compiler that it starts") {
    world.write("compiler/cc1plus", "more");
  }
  CHECK_FALSE(world.find());
}

TEST_CASE("No value of the environment is written down") {
  ScriptWorld world;
  world.system.environment["CCACHE_SECRET"] = "a-word-of-secrets";
  world.build_and_remember();
  REQUIRE(world.find());
  const auto text = world.files->read_file(world.settings.build_dir.value / "unchanged");
  REQUIRE(text);
  CHECK(text->find("CCACHE_SECRET") != std::string::npos);
  CHECK(text->find("a-word-of-secrets") == std::string::npos);
}
