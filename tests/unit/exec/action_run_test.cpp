#include "exec/action_run.h"

#include <catch2/catch.hpp>

#include "base/build_layout.h"
#include "base/digest.h"
#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"

using namespace dsbuild;

namespace {

using Texts = std::vector<std::string>;

// A compile of pack/a.cpp in the build folder /b, with a store.
struct Step {
  FakeFileSystem files;
  FakeProcessRunner processes;
  System system{files, processes, {}, {}};
  Texts command = {"g++", "-Ipack/inc0", "-Ipack/inc", "-c", "pack/a.cpp", "-o", "obj/a.o"};
  Texts read = {"pack/a.cpp", "pack/inc/v.h", "/usr/include/s.h"};

  Step() {
    files.current = "/b";
    files.add_link("/b/pack", "/p");
    files.add_file("/b/tools/store", "/store");
    files.add_file("/b/tools/digests", "/memo");
    files.add_file("/b/tools/assemblers", "tools/cxx.id\n");
    files.add_file("/b/tools/cxx.id", "g++");
    files.add_file("/p/a.cpp", "#include \"v.h\"\n");
    files.add_file("/p/inc/v.h", "#define V 1\n");
    files.add_directory("/p/inc0");
    files.add_file("/usr/include/s.h", "");
    files.add_file("/b/obj/a.o", "object");
  }

  StepWords words() const {
    StepWords words = {"run", "tools/cxx.id", "obj/a.o", "--"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Record describe() {
    ActionRun action(words(), system);
    return action.make_record({read, command});
  }
  // As a step does it, whose object is kept.
  Record make() {
    ActionRun action(words(), system);
    Record record = action.make_record({read, command});
    record.result.digest = sha256("object");
    action.share(record);
    record.outputs = action.digests_of({"obj/a.o"}).value();
    REQUIRE(action.write(record));
    return record;
  }
  bool holds() { return ActionRun(words(), system).is_up_to_date(); }
  bool is_in_store() { return ActionRun(words(), system).lookup().has_value(); }
};

bool has_input(const Record& record, const std::string& path) {
  return std::ranges::any_of(record.inputs, [&](const FileDigest& input) { return input.path == path; });
}

}  // namespace

TEST_CASE("What was made holds, and is found in the cache, until something that it was made of changes") {
  Step step;
  step.make();
  CHECK(step.holds());
  CHECK(step.is_in_store());
  step.files.add_file("/p/inc/v.h", "#define V 2\n");
  CHECK_FALSE(step.holds());
  CHECK_FALSE(step.is_in_store());
}

TEST_CASE("A precompiled header that may have been taken is an input, and its coming and going a change") {
  Step step;
  step.make();
  step.files.add_file("/p/inc0/v.h.gch", "2");
  CHECK_FALSE(step.holds());
  CHECK_FALSE(step.is_in_store());
  // Where g++ takes it, its depfile names neither it nor the header.
  step.read = {"pack/a.cpp"};
  CHECK(has_input(step.make(), "pack/inc0/v.h.gch"));
  CHECK(step.holds());
  step.files.add_file("/p/inc0/v.h.gch", "3");
  CHECK_FALSE(step.holds());
  step.make();
  REQUIRE(step.files.remove_all("/p/inc0/v.h.gch"));
  CHECK_FALSE(step.holds());
}

TEST_CASE("So is one in a folder, one of a system's header, and one of a header that no source names") {
  Step step;
  step.read = {"pack/a.cpp"};
  step.files.add_file("/p/inc0/v.h.gch/any", "2");
  step.files.add_file("/p/inc0/stdc-predef.h.gch", "2");
  const Record record = step.make();
  CHECK(has_input(record, "pack/inc0/v.h.gch/any"));
  CHECK(has_input(record, "pack/inc0/stdc-predef.h.gch"));
  step.files.add_file("/p/inc0/v.h.gch/any", "3");
  CHECK_FALSE(step.holds());
}

TEST_CASE("What is precompiled of a header that is included by force lies next to it") {
  Step step;
  step.command.insert(step.command.end(), {"-include", "pack/more/f.h"});
  step.read = {"pack/a.cpp"};
  step.make();
  step.files.add_file("/p/more/f.h.pch", "2");
  CHECK_FALSE(step.holds());
}

TEST_CASE("That which the build precompiles itself counts by what it was made of") {
  Step step;
  step.command.insert(step.command.end(), {"-include", "pch/1/torch.h"});
  step.files.add_file("/b/pch/1/torch.h", "");
  step.make();
  step.files.add_file("/b/pch/1/torch.h.gch", "2");
  CHECK(step.holds());
}

TEST_CASE("A text does not tell what is made where something precompiled may be taken") {
  Step step;
  ActionRun action(step.words(), step.system);
  CHECK(action.precompiled_headers(action.make_record({step.read, step.command})).empty());
  step.files.add_file("/p/inc0/v.h.gch", "2");
  ActionRun later(step.words(), step.system);
  CHECK(later.precompiled_headers(later.make_record({step.read, step.command})) ==
        Texts{"pack/inc0/v.h.gch"});
}

TEST_CASE("A candidate that cannot be read is a change") {
  for (const Opening opening : {Opening::other, Opening::unreadable}) {
    Step step;
    step.make();
    step.files.set_opening("/p/inc0/v.h", opening);
    CHECK(step.holds());  // the folder does not list it
    step.files.add_file("/p/inc0/v.h", "");
    CHECK_FALSE(step.holds());
    step.make();
    CHECK(step.holds());
    step.files.set_opening("/p/inc0/v.h", Opening::file);
    CHECK_FALSE(step.holds());
  }
}

TEST_CASE("What has the time of its compile never holds, and is not kept, unless something pins it") {
  Step step;
  std::string named = "pack/a.cpp";
  SECTION("in a source") {
    step.files.add_file("/p/a.cpp", "f(__DATE__);\n");
  }
  SECTION("in a header") {
    step.files.add_file("/p/inc/v.h", "#define V __TIME__\n");
    named = "pack/inc/v.h";
  }
  SECTION("in a package's header") {
    step.files.add_file("/usr/include/s.h", "#define V __TIME__\n");
    named = "/usr/include/s.h";
  }
  SECTION("in the command") {
    step.command.push_back("-DV=__TIME__");
  }
  CHECK(step.make().clock == named);
  CHECK_FALSE(step.holds());
  CHECK_FALSE(step.is_in_store());
  step.system.environment["SOURCE_DATE_EPOCH"] = "1";
  CHECK(step.make().clock.empty());
  CHECK(step.holds());
  CHECK(step.is_in_store());
  // Which clang takes it, no step knows.
  step.files.add_file("/b/tools/assemblers", "");
  CHECK(step.make().clock == named);
}

TEST_CASE("Where a file's time is read, those of the project's files count") {
  Step step;
  SECTION("in a source") {
    step.files.add_file("/p/a.cpp", "f(__TIMESTAMP__);\n");
  }
  SECTION("by a macro of a header") {
    step.files.add_file("/p/inc/v.h", "#define V __TIMESTAMP__\n");
  }
  SECTION("by the command") {
    step.command.push_back("-DV=__TIMESTAMP__");
  }
  step.make();
  CHECK(step.holds());
  REQUIRE(step.files.set_mtime("/p/a.cpp", 5'000'000'000));
  CHECK_FALSE(step.holds());
  CHECK_FALSE(step.is_in_store());
  step.make();
  CHECK(step.holds());
}

TEST_CASE("Where none is read, times do not count") {
  Step step;
  CHECK(step.make().file_times.empty());
  REQUIRE(step.files.set_mtime("/p/a.cpp", 5'000'000'000));
  CHECK(step.holds());
}

TEST_CASE("hipify writes its files in each build from scratch, so their times are those of the build") {
  Step step;
  step.files.add_file("/b/hipify/op/a.hip", "f(__TIMESTAMP__);\n");
  step.command[4] = "hipify/op/a.hip";
  step.read = {"hipify/op/a.hip"};
  step.system.environment["SOURCE_DATE_EPOCH"] = "1";
  CHECK(step.make().clock == "hipify/op/a.hip");
}

TEST_CASE("A step of a build that trusts no identity reads each file") {
  Step step;
  step.make();
  step.files.change_unseen("/p/inc/v.h", "#define V 2\n");
  CHECK(step.holds());
  step.system.environment["DSBUILD_PARANOID"] = "1";
  CHECK_FALSE(step.holds());
}
