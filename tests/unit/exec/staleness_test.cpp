#include "exec/staleness.h"

#include <catch2/catch.hpp>

#include "base/digest.h"
#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

// A build folder /b whose source root is /p, and a record of one compile in it.
struct World {
  FakeFileSystem files;
  DigestMemo digests{files, "/memo"};
  Lists lists{files, "/b", {}};
  Record record;
  Key key{
      {{"version", "4"}, {"command", "run tools/cxx.id obj/a.o -- g++ -O2 -c pack/a.cpp"}, {"tools", ""}}};

  World() {
    files.add_link("/b/pack", "/p");
    files.add_file("/p/a.cpp", "#include \"v.h\"\n");
    files.add_file("/p/inc/v.h", "1");
    files.add_file("/usr/include/s.h", "system");
    files.add_file("/b/obj/a.o", "object");
    key.parts[2].value = lists.put(sha256("cc1plus") + " /usr/lib/cc1plus\n" + sha256("as") + " as\n");
    record.key = key;
    record.inputs = {{"pack/a.cpp", sha256("#include \"v.h\"\n")}, {"pack/inc/v.h", sha256("1")}};
    record.others = lists.put(sha256("system") + " /usr/include/s.h\n");
    record.search =
        lists.put(render_search({{"pack", "pack/inc", "/usr/include"}, {"v.h", "s.h", "t.h"}, false}));
    record.present = lists.put("pack/inc\tv.h\n/usr/include\ts.h\n");
    record.outputs = {{"obj/a.o", sha256("object")}};
  }

  // What a new look says; "" where all is as it was.
  std::string difference() {
    Staleness judge("/b", files, digests, lists);
    auto change = judge.find_staleness(record, key);
    if (!change) change = judge.first_changed_output(record);
    return change ? change->text() : "";
  }
};

}  // namespace

TEST_CASE("Nothing differs where nothing has changed, also where all files are others with the same bytes") {
  World world;
  CHECK(world.difference().empty());
  for (const char* file : {"/p/a.cpp", "/p/inc/v.h", "/usr/include/s.h", "/b/obj/a.o"})
    world.files.add_file(file, std::string(world.files.bytes(file)));
  CHECK(world.difference().empty());
}

TEST_CASE("A change is told in words of the user's") {
  World world;
  SECTION("a header") {
    world.files.add_file("/p/inc/v.h", "2");
    CHECK(world.difference() == "inc/v.h has changed");
  }
  SECTION("a header that is gone") {
    REQUIRE(world.files.remove_all("/p/inc/v.h"));
    CHECK(world.difference() == "inc/v.h is gone");
  }
  SECTION("a header of the system") {
    world.files.add_file("/usr/include/s.h", "another");
    CHECK(world.difference() == "/usr/include/s.h has changed");
  }
  SECTION("a header that comes to stand before one that was read") {
    world.files.add_file("/p/v.h", "2");
    CHECK(world.difference() == "v.h has come to pack");
  }
  SECTION("a header that was asked for and comes") {
    world.files.add_file("/usr/include/t.h", "");
    CHECK(world.difference() == "t.h has come to /usr/include");
  }
  SECTION("a name that nobody looks for") {
    world.files.add_file("/p/inc/other.h", "");
    CHECK(world.difference().empty());
  }
  SECTION("the source root") {
    world.files.add_file("/q/a.cpp", "#include \"v.h\"\n");
    world.files.add_file("/q/inc/v.h", "3");
    world.files.add_link("/b/pack", "/q");
    CHECK(world.difference() == "inc/v.h has changed");
  }
  SECTION("an option") {
    world.key.parts[1].value = "run tools/cxx.id obj/a.o -- g++ -O3 -c pack/a.cpp";
    CHECK(world.difference() == "option -O2 is now -O3");
    world.key.parts[1].value = "run tools/cxx.id obj/a.o -- g++ -O2 -DMORE -c pack/a.cpp";
    CHECK(world.difference() == "option -DMORE is new");
    world.key.parts[1].value = "run tools/cxx.id obj/a.o -- g++ -c pack/a.cpp";
    CHECK(world.difference() == "option -O2 is gone");
  }
  SECTION("a tool's part") {
    world.key.parts[2].value =
        world.lists.put(sha256("cc1plus") + " /usr/lib/cc1plus\n" + sha256("other") + " as\n");
    CHECK(world.difference() == "tool as has changed");
  }
  SECTION("an output that was damaged") {
    world.files.add_file("/b/obj/a.o", "objecX");
    CHECK(world.difference() == "output obj/a.o has changed");
    REQUIRE(world.files.remove_all("/b/obj/a.o"));
    CHECK(world.difference() == "output obj/a.o is gone");
  }
  SECTION("a file that changed while it was read") {
    world.record.unsettled = "pack/a.cpp";
    CHECK(world.difference() == "a.cpp changed while it was read");
  }
  SECTION("files that no compiler names") {
    world.record.incomplete = "pack/a.cpp";
    CHECK(world.difference() == "a.cpp reads files that no compiler names");
  }
}

TEST_CASE("So is what a compiler stops at, what it takes in place of a header, and what depends on times") {
  World world;
  SECTION("what cannot be read comes to stand before one that was read") {
    world.files.add_file("/p/v.h", "2");
    world.files.set_opening("/p/v.h", Opening::unreadable);
    CHECK(world.difference() == "v.h (unreadable) has come to pack");
    world.files.set_opening("/p/v.h", Opening::other);
    CHECK(world.difference() == "v.h (no file) has come to pack");
  }
  SECTION("what is precompiled of a header that was read") {
    world.files.add_file("/p/inc/v.h.gch", "2");
    CHECK(world.difference() == "v.h.gch has come to inc");
  }
  SECTION("the time of its compile") {
    world.record.clock = "pack/a.cpp";
    CHECK(world.difference() == "a.cpp has the time of its compile in it");
  }
  SECTION("the time of a file that has it") {
    world.files.touch("/p/a.cpp");
    world.record.file_times = {{"pack/a.cpp", 0}};  // the fake's ticks lie within one second
    CHECK(world.difference().empty());
    REQUIRE(world.files.set_mtime("/p/a.cpp", 2'000'000'000));
    CHECK(world.difference() == "a.cpp has another time, which is read (__TIMESTAMP__)");
  }
}

TEST_CASE("A lost list is a difference, and a damaged one is lost") {
  World world;
  const Path list = Path("/b/lists") / world.record.others;
  world.files.add_file(list, "nonsense");
  Lists later{world.files, "/b", {}};
  CHECK(Staleness("/b", world.files, world.digests, later).find_staleness(world.record, world.key)->text() ==
        "the list of headers is lost");
}

TEST_CASE("Two files of equal bytes count with whether their times are equal") {
  World world;
  world.files.add_file("/p/w.h", "1");
  world.record.equal_files = {{"pack/inc/v.h", "pack/w.h", true}};
  CHECK(world.difference().empty());  // the fake's ticks lie within one second
  world.record.equal_files[0].same_time = false;
  CHECK(world.difference() == "the times of inc/v.h and pack/w.h are equal now");
  world.record.equal_files[0].same_time = true;
  world.files.add_file("/p/w.h", "no longer");
  CHECK(world.difference() == "w.h has changed");
}
