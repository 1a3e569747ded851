#include "driver/build_bundle.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <limits>
#include <thread>

#include "fakes/faulty_file_system.h"
#include "support/sample.h"
#include "unit/driver/build_world.h"

using namespace dsbuild;
using namespace std::chrono_literals;

namespace {

const std::string k_wrong = "#error wrong\n";

std::set<std::string> names_of(const BuildWorld& world) {
  std::set<std::string> names;
  for (const auto& [name, bytes] : world.bundle())
    names.insert(name);
  return names;
}

const std::set<std::string> k_whole = {"manifest.json", "one.so", "provenance.intoto.json", "two.so"};

// As a program does at whose n-th start something happens.
class WatchedStarts : public ProcessRunner {
 public:
  WatchedStarts(ProcessRunner& real, int at, std::function<void()> then)
      : real_(real), left_(at), then_(std::move(then)) {}
  bool happened() const { return left_ <= 0; }

  Result<ProcessResult> run(const Command& command) override {
    count();
    return real_.run(command);
  }
  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>& inherited,
                                        const std::function<void(std::string_view)>& on_output,
                                        const std::function<bool()>& on_tick) override {
    count();
    return real_.run_on_terminal(command, inherited, on_output, on_tick);
  }

 private:
  void count() {
    if (--left_ == 0) then_();
  }
  ProcessRunner& real_;
  int left_;
  std::function<void()> then_;
};

// The compile of op `one` takes so long; the real compiler does the work.
void slow_down(BuildWorld& world, const std::string& seconds) {
  const auto real = find_program(*world.files, "g++", "/usr/bin:/bin:/usr/local/bin");
  REQUIRE(real);
  world.write("compiler/fake.json",
              R"({"real": ")" + real->string() + R"(", "slow": {"one.o.tmp": )" + seconds + "}}");
}

// The source of op `one` is edited each time its compiler has read it and has half of the object written.
class EditsWhileItCompiles {
 public:
  EditsWhileItCompiles(BuildWorld& world, int most) {
    slow_down(world, "0.8");
    const Path half = world.settings.build_dir.value / "obj/one/one.cpp/one.o.tmp";
    world.events.watch = [this](const std::string& told) {
      if (told != "started obj/one/one.cpp/one.o") return;
      ++compiled_;
      is_edited_ = false;
    };
    world.events.tick = [this, &world, half, most] {
      if (is_edited_ || made_ == most || world.files->kind(half) != FileKind::file) return;
      world.write_source("one", "int edit_" + std::to_string(made_++) + ";\n");
      is_edited_ = true;
    };
  }
  int made() const { return made_; }
  int compiled() const { return compiled_; }

 private:
  int made_ = 0, compiled_ = 0;
  bool is_edited_ = true;
};

}  // namespace

TEST_CASE("A request becomes a bundle, and says on the way what happens") {
  BuildWorld world;
  const auto built = world.build();
  REQUIRE(built);
  CHECK(names_of(world) == k_whole);
  CHECK(built->did_something);
  CHECK(built->outcome.edges_run == 6);  // each op is compiled, linked and verified
  CHECK(built->outcome.manifest.ops.size() == 2);
  const std::vector<std::string>& told = world.events.told;
  CHECK(told.at(0) == "plan");
  CHECK(told.at(1) == "begins");
  CHECK(told.back() == "ends");
  for (const char* output : {"obj/one/one.cpp/one.o", "lib/one.so", "check/one.ok"}) {
    CHECK(world.events.has("started " + std::string(output)));
    CHECK(world.events.has("finished " + std::string(output)));
  }
}

TEST_CASE("A request that was fulfilled runs nothing when it is made again in the same process") {
  BuildWorld world;
  REQUIRE(world.build());
  REQUIRE(world.build());  // the graph of it has the longest edges first
  const auto before = world.bundle();
  world.events.told.clear();
  const auto again = world.build();
  REQUIRE(again);
  CHECK_FALSE(again->did_something);
  CHECK(again->outcome.edges_run == 0);
  CHECK(world.bundle() == before);
  CHECK(world.events.told == std::vector<std::string>{"plan"});
}

TEST_CASE("Ops that the new bundle will not have are told with the plan") {
  BuildWorld world;
  REQUIRE(world.build());
  world.settings.selection.without = {"two"};
  world.events.told.clear();
  REQUIRE(world.build());
  CHECK(world.events.told.front() == "plan without two");
  CHECK(names_of(world) == std::set<std::string>{"manifest.json", "one.so", "provenance.intoto.json"});
}

TEST_CASE("Of a failure nothing is published, and the old bundle stays") {
  BuildWorld world;
  REQUIRE(world.build());
  const auto before = world.bundle();
  world.write_source("one", k_wrong);
  world.write_source("two", "int more;\n");
  const auto failed = world.build();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == "edge_failed");
  CHECK(failed.error().where == "one");
  CHECK(world.events.has("failure of one"));
  CHECK(world.bundle() == before);
}

TEST_CASE("A failure on a disk that is almost full says so, for not every tool does") {
  BuildWorld world;
  world.write_source("one", k_wrong);
  FaultyFileSystem narrow(*world.files, std::numeric_limits<int>::max(), Fault::error);
  System system{narrow, *world.processes, world.system.environment, world.system.program};
  world.settings.keep_going.value = true;
  const auto hint_with = [&](uint64_t free) {
    narrow.free = free;
    const auto built = world.build_in(system);
    REQUIRE(built);
    return built->outcome.failures.at(0).hint;
  };
  CHECK(hint_with(24 << 10).find("24.0 KiB are left on the disk of ") == 0);
  CHECK(hint_with(uint64_t{1} << 30).empty());
}

TEST_CASE("With keep_going what did not fail is published") {
  BuildWorld world;
  world.settings.keep_going.value = true;
  world.write_source("one", k_wrong);
  const auto built = world.build();
  REQUIRE(built);
  REQUIRE(built->outcome.failures.size() == 1);
  CHECK(built->outcome.failures.front().edge.op == "one");
  CHECK(world.files->kind(built->outcome.failures.front().log) == FileKind::file);
  CHECK(names_of(world) == std::set<std::string>{"manifest.json", "provenance.intoto.json", "two.so"});
}

TEST_CASE("With keep_going nothing is published where every op failed") {
  BuildWorld world;
  REQUIRE(world.build());
  const auto before = world.bundle();
  world.settings.keep_going.value = true;
  for (const char* name : {"one", "two"})
    world.write_source(name, k_wrong);
  const auto failed = world.build();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == "edge_failed");
  CHECK(failed.error().where == "one, two");
  CHECK(world.bundle() == before);
}

TEST_CASE("What is wrong with a request is its first error, and nothing is run for it") {
  BuildWorld world;
  const auto code = [&] {
    const auto built = world.build();
    return built ? std::string("built") : std::string(built.error().code);
  };
  SECTION("an op that is not there") {
    world.settings.selection.all = false;
    world.settings.selection.names = {"three"};
    CHECK(code() == "unknown_op");
  }
  SECTION("no op at all") {
    world.settings.selection = {};
    CHECK(code() == "nothing_selected");
  }
  SECTION("a pack that is not there") {
    world.settings.pack.value = (world.folder.path() / "nothing").string();
    CHECK(code() == "unknown_pack");
  }
  SECTION("a compiler that is not there") {
    world.system.environment["CXX"] = "/nothing/g++";
    CHECK(code() == "no_compiler");
  }
  SECTION("no Ninja") {
    world.system.environment["PATH"] = "/nothing";
    world.system.environment.erase("DSBUILD_NINJA");
    CHECK(code() == "no_ninja");
  }
  SECTION("a build folder that is somebody else's") {
    world.write("build/mine", "");
    CHECK(code() == "foreign_build_dir");
  }
  SECTION("a bundle's folder that is somebody else's") {
    world.write("out/mine", "");
    CHECK(code() == "foreign_out");
  }
  SECTION("a cache's folder that is somebody else's") {
    world.settings.local_cache.value = world.folder.path() / "pack";
    CHECK(code() == "foreign_cache_dir");
  }
  SECTION("nothing to compare") {
    world.settings.verify_against_nvcc = {true, "--verify-against-nvcc"};
    world.settings.backend = {CudaBackend::nvcc, "--backend"};
    CHECK(code() == "nothing_to_compare");
  }
  SECTION("a source that is not there") {
    std::filesystem::remove(world.folder.path() / "pack/src/one.cpp");
    CHECK(code() == "missing_source");
  }
  CHECK_FALSE(world.events.has("begins"));
}

TEST_CASE("A build that is cancelled at any start of a program publishes nothing, and the next one heals",
          "[sweep]") {
  const int step = is_deep_tier() ? 1 : 2;
  int at = 1 + static_cast<int>(sample_seed() % static_cast<unsigned>(step));
  int reached = 0;
  for (bool was_reached = true; was_reached; at += step) {
    BuildWorld world;
    std::stop_source source;
    WatchedStarts starts(*world.processes, at, [&] { source.request_stop(); });
    System system{*world.files, starts, world.system.environment, world.system.program};
    Session session(world.settings, system, world.events, {source.get_token(), {}});
    const auto built = build_bundle(world.request(), session);
    was_reached = starts.happened();
    INFO("start " << at);
    REQUIRE(built.has_value() == !was_reached);
    if (!was_reached) continue;
    ++reached;
    CHECK(built.error().code == "cancelled");
    CHECK(world.bundle().empty());
    if (reached % 4 != 1) continue;
    REQUIRE(world.build());
    CHECK(names_of(world) == k_whole);
  }
  CHECK(reached > 3);
}

TEST_CASE("A build that is cancelled while edges run ends them, and publishes nothing") {
  BuildWorld world;
  slow_down(world, "30");
  std::stop_source source;
  world.events.watch = [&](const std::string& told) {
    if (told == "started obj/one/one.cpp/one.o") source.request_stop();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto built = world.build({source.get_token(), {}});
  REQUIRE_FALSE(built);
  CHECK(built.error().code == "cancelled");
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  CHECK(world.bundle().empty());
  slow_down(world, "0");
  world.events.watch = [](const std::string&) {};
  REQUIRE(world.build());
  CHECK(names_of(world) == k_whole);
}

TEST_CASE("A build that reaches its time limit publishes nothing") {
  BuildWorld world;
  const auto now = std::chrono::steady_clock::now();
  SECTION("before it begins") {
    const auto built = world.build({{}, now});
    REQUIRE_FALSE(built);
    CHECK(built.error().code == "out_of_time");
    CHECK_FALSE(world.events.has("plan"));
  }
  SECTION("while edges run") {
    REQUIRE(world.build());
    const auto before = world.bundle();
    world.write_source("one", "int more;\n");
    slow_down(world, "30");
    const auto built = world.build({{}, now + 4s});
    REQUIRE_FALSE(built);
    CHECK(built.error().code == "out_of_time");
    CHECK(world.events.has("started obj/one/one.cpp/one.o"));
    CHECK(world.bundle() == before);
  }
}

TEST_CASE("A signal ends a build as Ninja's own user would") {
  BuildWorld world;
  slow_down(world, "30");
  world.events.watch = [&](const std::string& told) {
    if (told == "started obj/one/one.cpp/one.o") std::raise(SIGINT);
  };
  const auto built = world.build();
  REQUIRE_FALSE(built);
  CHECK(built.error().code == "interrupted");
  CHECK(static_cast<int>(built.error().exit) == 130);
  CHECK(world.bundle().empty());
}

TEST_CASE("Two requests in two threads do not know of each other") {
  BuildWorld worlds[2];
  worlds[1].write_source("two", k_wrong);
  std::optional<Result<Built>> results[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i)
    threads[i] = std::thread([&, i] { results[i] = worlds[i].build(); });
  for (std::thread& thread : threads)
    thread.join();
  REQUIRE(*results[0]);
  CHECK(names_of(worlds[0]) == k_whole);
  REQUIRE_FALSE(*results[1]);
  CHECK(results[1]->error().code == "edge_failed");
  CHECK_FALSE(worlds[0].events.has("failure of two"));
}

TEST_CASE("Of two requests for one build folder the second waits for the first") {
  BuildWorld world;
  slow_down(world, "1");
  ToldEvents others;
  std::optional<Result<Built>> waited;
  std::thread second;
  world.events.watch = [&](const std::string& told) {
    if (told != "started obj/one/one.cpp/one.o") return;
    second = std::thread([&] {
      Session session(world.settings, world.system, others);
      waited = build_bundle(world.request(), session);
    });
  };
  REQUIRE(world.build());
  second.join();
  REQUIRE(*waited);
  CHECK(others.has("waiting for another dsbuild"));
  CHECK((*waited)->outcome.edges_run == 0);
}

TEST_CASE("A source that is edited while it compiles is compiled once more") {
  BuildWorld world;
  EditsWhileItCompiles edits(world, 1);
  REQUIRE(world.build());
  CHECK(edits.made() == 1);
  CHECK(edits.compiled() == 2);
  CHECK(world.build()->outcome.edges_run == 0);
}

TEST_CASE("Of a source that goes on changing while it compiles nothing is published") {
  BuildWorld world;
  EditsWhileItCompiles edits(world, 100);
  const auto built = world.build();
  REQUIRE_FALSE(built);
  CHECK(built.error().code == "unsettled");
  CHECK(built.error().where.find("one.cpp") != std::string::npos);
  CHECK(edits.compiled() == 4);
  CHECK(world.bundle().empty());
}
