// Calls of `dsbuild nvcc`: what is taken, made and kept, and which tools run for it.
#include <catch2/catch.hpp>

#include "unit/wrapper/call_world.h"

using namespace dsbuild;

namespace {

const std::string k_all = "as cicc cpp*2 cudafe++ fatbinary g++ ld objcopy ptxas", k_none;

}  // namespace

TEST_CASE("calls: a compile is made by its parts, and then taken") {
  CallWorld world;
  const CallEnded made = world.call();
  CHECK(made.error == "");
  CHECK(made.kept.kind == CallKind::sliced);
  CHECK(made.starts == k_all);
  const std::string object = world.read("ann/a.o"), depfile = world.read("ann/a.d");
  CHECK(
      object.starts_with("\x7f"
                         "ELF"));
  CHECK(depfile.starts_with("a.o : a.cu \\\n"));
  REQUIRE(world.files->remove_all(CallWorld::folder().path() / "ann/a.o"));
  world.write("ann/a.d", "other");
  const CallEnded taken = world.call();
  CHECK(taken.kept.kind == CallKind::taken);
  CHECK(taken.starts == k_none);
  CHECK(world.read("ann/a.o") == object);
  CHECK(world.read("ann/a.d") == depfile);
}

TEST_CASE("calls: another checkout takes the object") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  world.copy_to_bob();
  const CallEnded taken = world.call({}, "bob");
  CHECK(taken.kept.kind == CallKind::taken);
  CHECK(taken.starts == k_none);
  CHECK(world.read("bob/a.o") == world.read("ann/a.o"));
  CHECK(world.read("bob/a.d") == world.read("ann/a.d"));
}

TEST_CASE("calls: an edit that leaves the texts runs the preprocessor and what joins the parts") {
  CallWorld world;
  world.write("ann/a.h", "#define UNUSED 1\n");
  REQUIRE(world.call().error == "");
  const std::string object = world.read("ann/a.o");
  world.write("ann/a.h", "#define UNUSED 2\n");
  const CallEnded made = world.call();
  CHECK(made.kept.kind == CallKind::sliced);
  CHECK(made.starts == "cpp*2 ld objcopy");
  CHECK(world.read("ann/a.o") == object);
}

TEST_CASE("calls: an edit makes what a call from scratch makes, and going back takes what was there") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  const std::string object = world.read("ann/a.o");
  world.write("ann/a.h", "inline int header() { return 2; }\nconst char* more = \"more\";\n");
  CHECK(world.call().starts == "as cicc cpp*2 cudafe++ fatbinary ld objcopy ptxas");
  const std::string edited = world.read("ann/a.o");
  world.write("ann/a.h", "inline int header() { return 1; }\n");
  CHECK(world.call().kept.kind == CallKind::taken);
  CHECK(world.read("ann/a.o") == object);
  world.write("ann/a.h", "inline int header() { return 2; }\nconst char* more = \"more\";\n");
  REQUIRE(world.files->remove_all(world.settings.local_cache.value));
  CHECK(world.call().starts == k_all);
  CHECK(world.read("ann/a.o") == edited);
}

TEST_CASE("calls: an arch more compiles that arch alone") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  const Args more = {"-gencode=arch=compute_90,code=sm_90"};
  REQUIRE(world.call(more).error == "");  // asks nvcc for its steps
  REQUIRE(world.files->remove_all(world.settings.local_cache.value));
  REQUIRE(world.call().error == "");
  CHECK(world.call(more).starts == "as cicc cpp fatbinary ld nvcc objcopy ptxas");  // nvcc writes the depfile
}

TEST_CASE("calls: another option, or another language of messages, is another call") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  CHECK(world.call({"-DMORE"}).kept.kind == CallKind::sliced);
  CHECK(world.call({"-DMORE"}).kept.kind == CallKind::taken);
  world.environment["LC_MESSAGES"] = "de_DE";
  const CallEnded german = world.call();
  CHECK(german.error == "");
  CHECK(german.kept.kind == CallKind::sliced);
  CHECK(world.call().kept.kind == CallKind::taken);
}

TEST_CASE("calls: warnings are said again with what is taken") {
  CallWorld world;
  world.write("ann/a.h", "#warning old\n");
  const std::string said = world.call().said;
  const size_t first = said.find("a.h:1:2: warning: #warning old");
  CHECK(first != std::string::npos);
  CHECK(said.find("a.h:1:2: warning: #warning old", first + 1) !=
        std::string::npos);  // in each text, as nvcc's
  CHECK(world.call().said == said);
  world.copy_to_bob();
  const CallEnded taken = world.call({}, "bob");
  CHECK(taken.kept.kind == CallKind::taken);
  CHECK(taken.said == said);
}

TEST_CASE("calls: where a tool fails nothing is written or kept, and nvcc is to say why") {
  for (const char* tool : {"cpp", "cicc", "g++", "objcopy"}) {
    INFO(tool);
    CallWorld world;
    world.write("ann/a.o", "what was there");
    world.processes.failing = tool;
    const CallEnded ended = world.call();
    CHECK(ended.error.starts_with(tool == std::string("objcopy") ? "its objects cannot be joined"
                                                                 : "a tool failed"));
    CHECK(world.read("ann/a.o") == "what was there");
    CHECK(world.read("ann/a.d") == "");
    world.processes.failing = "";
    const CallEnded next = world.call();
    CHECK(next.error == "");
    CHECK(next.kept.kind == CallKind::sliced);
    CHECK(world.call().kept.kind == CallKind::taken);
  }
}

TEST_CASE("calls: a header that changes while a tool runs leaves nothing that is taken") {
  CallWorld world;
  const std::string changed = "inline int header() { return 2; }\nconst char* more = \"more\";\n";
  world.processes.before = [&](const std::string& tool) {
    if (tool == "cicc") world.write("ann/a.h", changed);
  };
  REQUIRE(world.call().error == "");
  world.processes.before = [](const std::string&) {};
  world.copy_to_bob();
  CHECK(world.call({}, "bob").kept.kind == CallKind::sliced);
  CHECK(world.call().kept.kind != CallKind::left);
  CHECK(world.read("ann/a.o") == world.read("bob/a.o"));
  REQUIRE(world.files->remove_all(world.settings.local_cache.value));
  REQUIRE(world.call().error == "");
  CHECK(world.read("ann/a.o") == world.read("bob/a.o"));
}

TEST_CASE("calls: what is made of files that no compiler names is never kept") {
  CallWorld world;
  world.write("ann/a.h", "#if 0\n#embed \"data.bin\"\n#endif\n");
  CHECK(world.call().kept.kind == CallKind::sliced);
  CHECK(world.call().kept.kind == CallKind::sliced);
}

TEST_CASE("calls: a header that comes before another is seen") {
  CallWorld world;
  const Args folders = {"-Ifirst", "-I."};
  world.write("ann/first/b.h", "\n");
  world.write("ann/a.cu", "#include <a.h>\n__global__ void k() {}\n");
  REQUIRE(world.call(folders).error == "");
  CHECK(world.call(folders).kept.kind == CallKind::taken);
  world.write("ann/first/a.h", "const char* first = \"first\";\n");
  CHECK(world.call(folders).kept.kind == CallKind::sliced);
}

TEST_CASE("calls: damaged entries are made again") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  const std::string object = world.read("ann/a.o");
  world.damage_cache();
  const CallEnded made = world.call();
  CHECK(made.kept.kind == CallKind::sliced);
  CHECK(made.starts == k_all);
  CHECK(world.read("ann/a.o") == object);
}

TEST_CASE("calls: other tools, another object") {
  CallWorld world;
  REQUIRE(world.call().error == "");
  const std::string cicc = world.read("toolkit/bin/cicc");
  world.write("toolkit/bin/cicc", cicc + "of another version");
  std::filesystem::permissions(CallWorld::home() / "bin/cicc", std::filesystem::perms::owner_all);
  const CallEnded made = world.call();
  CHECK(made.kept.kind == CallKind::sliced);
  CHECK(made.starts.find("cicc") != std::string::npos);
  world.write("toolkit/bin/cicc", cicc);
  std::filesystem::permissions(CallWorld::home() / "bin/cicc", std::filesystem::perms::owner_all);
  CHECK(world.call().kept.kind == CallKind::taken);
}

TEST_CASE("calls: relocatable device code is made by the whole command and kept for its own root") {
  CallWorld world;
  const Args more = {"-rdc=true"};
  const CallEnded made = world.call(more);
  CHECK(made.error == "");
  CHECK(made.kept.kind == CallKind::kept_whole);
  CHECK(made.starts == "nvcc");
  const std::string object = world.read("ann/a.o");
  world.write("ann/a.o", "other");
  const CallEnded taken = world.call(more);
  CHECK(taken.kept.kind == CallKind::taken);
  CHECK(taken.starts == k_none);
  CHECK(world.read("ann/a.o") == object);
  world.copy_to_bob();
  CHECK(world.call(more, "bob").kept.kind == CallKind::kept_whole);
  world.processes.failing = "nvcc";
  world.write("ann/a.cu", "__global__ void other() {}\n");
  const CallEnded failed = world.call(more);
  CHECK(failed.kept.code == 2);
  CHECK(failed.kept.kind == CallKind::left);
  CHECK(failed.said == "nvcc does not like it\n");
}

TEST_CASE("calls: without a folder for what is known, nvcc does it all") {
  CallWorld world;
  world.settings.cache_dir = CallWorld::home() / "fake.json";
  CHECK(world.call().error.starts_with("the cache folder cannot be written"));
}
