// The probes that compile, against a compiler that answers from a script. The texts are those of
// g++ 12.2 and clang++ 19 with GNU ld 2.40.
#include <catch2/catch.hpp>

#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

const char* const k_header_found =
    ". /usr/include/zlib.h\n.. /usr/include/zconf.h\n... /usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h\n";
const char* const k_library_found =
    "/usr/lib/x86_64-linux-gnu/crti.o\n/tmp/cccRIHLb.o\n/usr/lib/x86_64-linux-gnu/libz.so\n"
    "/lib/x86_64-linux-gnu/libc.so.6\n";

void install_zlib(World& world) {
  world.files.add_file("/usr/include/zlib.h", "");
  world.files.add_file("/usr/lib/x86_64-linux-gnu/libz.so", "");
  world.processes.on({"g++", "-E"}, FakeProcessRunner::succeeded("", k_header_found));
  world.processes.on({"g++", "-lz"}, FakeProcessRunner::succeeded(k_library_found));
}

bool has_word(const Command& command, const std::string& word) {
  return std::count(command.argv.begin(), command.argv.end(), word) > 0;
}

}  // namespace

TEST_CASE("A header is met when the preprocessor finds it, and its CFLAGS go to the op") {
  World world;
  install_zlib(world);
  world.settings.cflags.value = {"-I/opt/z/include"};
  const Finding finding = world.ask(need(RequirementKind::header, {"zlib.h"}));
  CHECK(finding.ok);
  CHECK(finding.why == "/usr/include/zlib.h");
  CHECK(finding.usage == given({}, {"-I/opt/z/include"}, {}));
  CHECK(has_word(world.processes.started.at(0), "-I/opt/z/include"));
}

TEST_CASE("A header is looked for in the op's include folders, and in the toolkit's for a CUDA op") {
  World world;
  install_zlib(world);
  world.used_toolkit = &world.toolkit;
  OpSpec& cuda = world.add_op("cuda_op", {need(RequirementKind::header, {"zlib.h"})});
  cuda.include_dirs.push_back({"inc", {}, {}});
  OpSpec& cpu = world.add_op("cpu_op", {need(RequirementKind::header, {"zlib.h"})});
  cpu.backend = BackendKind::cpu;
  world.check();
  REQUIRE(world.processes.starts("g++") == 2);
  CHECK(has_word(world.processes.started[0], "-I/pack/inc"));
  CHECK(has_word(world.processes.started[0], "-I/usr/local/cuda/include"));
  CHECK_FALSE(has_word(world.processes.started[1], "-I/usr/local/cuda/include"));
}

TEST_CASE("A header and a library are looked for first where a variable and a Python package say") {
  World world;
  install_zlib(world);
  world.environment["Z_ROOT"] = "/opt/z";
  const Path package = "/usr/local/lib/python3.11/dist-packages/kit/z";
  for (const Path& prefix : {Path("/opt/z"), package}) {
    world.files.add_file(prefix / "include/zlib.h", "");
    world.files.add_file(prefix / "lib64/libz.so", "");
  }
  world.files.add_file(package / "libz.so", "");
  Requirement header = need(RequirementKind::header, {"zlib.h"}), library = need_library("z", "");
  header.root = library.root = "Z_ROOT";
  header.package = library.package = "kit/z";
  CHECK(world.ask(header).usage.include_dirs ==
        std::vector<std::string>{"/opt/z/include", package / "include"});
  CHECK(world.ask(library).usage.link_flags == std::vector<std::string>{"-L/opt/z/lib64",
                                                                        "-L" + (package / "lib64").string(),
                                                                        "-L" + package.string(), "-lz"});
  CHECK(has_word(world.processes.started.at(0), "-I/opt/z/include"));
  CHECK(has_word(world.processes.started.at(1), "-L/opt/z/lib64"));
}

TEST_CASE("A CUDA op's library is looked for in the toolkit too") {
  World world;
  install_zlib(world);
  world.toolkit.library_dir = "/usr/local/cuda/lib64";
  world.toolkit.stubs_dir = "/usr/local/cuda/lib64/stubs";
  world.used_toolkit = &world.toolkit;
  world.add_op("cuda_op", {need_library("z", "")});
  world.add_op("cpu_op", {need_library("z", "")}).backend = BackendKind::cpu;
  CHECK(world.check().by_op.at("cuda_op").at(0).usage.link_flags ==
        std::vector<std::string>{"-L/usr/local/cuda/lib64", "-L/usr/local/cuda/lib64/stubs", "-lz"});
  REQUIRE(world.processes.starts("g++") == 2);
  CHECK(has_word(world.processes.started[0], "-L/usr/local/cuda/lib64"));
  CHECK_FALSE(has_word(world.processes.started[1], "-L/usr/local/cuda/lib64"));
}

TEST_CASE("A missing header is told from a header that does not compile") {
  World world;
  world.processes.on({"g++"}, FakeProcessRunner::failed(
                                  "probe-1/header.cpp:1:10: fatal error: aio.h: No such file or directory\n"
                                  "    1 | #include <aio.h>\ncompilation terminated.\n"));
  const Finding gcc = world.ask(need(RequirementKind::header, {"aio.h"}));
  CHECK_FALSE(gcc.ok);
  CHECK(gcc.why == "not found: no header aio.h");
  CHECK(gcc.detail.find("compilation terminated.") != std::string::npos);
  CHECK(gcc.fix == "install the package that holds aio.h, or add its folder to CFLAGS (-I...)");

  world.processes.on({"g++"}, FakeProcessRunner::failed("h.cpp:1:10: fatal error: 'aio.h' file not found\n"));
  CHECK(world.ask(need(RequirementKind::header, {"aio.h"})).why == "not found: no header aio.h");

  world.processes.on({"g++"}, FakeProcessRunner::failed("In file included from header.cpp:1:\n"
                                                        "/usr/include/aio.h:3:2: error: #error wrong OS\n"));
  CHECK(world.ask(need(RequirementKind::header, {"aio.h"})).why ==
        "/usr/include/aio.h:3:2: error: #error wrong OS");
}

TEST_CASE("A library is met when a call links, and its flags go to the op") {
  World world;
  install_zlib(world);
  world.settings.cflags.value = {"-DX"};
  world.settings.ldflags.value = {"-L/opt/z/lib"};
  const Finding finding = world.ask(need_library("z", "deflate"));
  CHECK(finding.ok);
  CHECK(finding.why == "/usr/lib/x86_64-linux-gnu/libz.so: deflate links");
  CHECK(finding.usage == given({}, {"-DX"}, {"-L/opt/z/lib", "-lz"}));
  CHECK(world.ask(need_library("z", "")).why == "/usr/lib/x86_64-linux-gnu/libz.so links");
}

TEST_CASE("A library's failure is the linker's first error, with the whole text for -v") {
  const auto [text, why] = GENERATE(table<std::string, std::string>({
      {"/usr/bin/ld: cannot find -laio: No such file or directory\ncollect2: error: ld returned 1\n",
       "/usr/bin/ld: cannot find -laio: No such file or directory"},
      {"/usr/bin/ld: l.o: in function `main':\nl.c:(.text+0xa): undefined reference to `io_submit'\n",
       "l.c:(.text+0xa): undefined reference to `io_submit'"},
      {"ld.lld: error: undefined symbol: io_submit\n", "ld.lld: error: undefined symbol: io_submit"},
      {"\nKilled\n", "Killed"},
      {"", "the compiler failed without a word"},
  }));
  World world;
  world.processes.on({"g++"}, FakeProcessRunner::failed(text));
  const Finding finding = world.ask(need_library("aio", "io_submit"));
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == why);
  CHECK(finding.detail == text);
  CHECK(finding.usage == UsageRequirements{});
}

TEST_CASE(
    "The compiler runs with the source alone in its folder, with the caller's CPATH and not its flags") {
  World world;
  install_zlib(world);
  world.environment["CPATH"] = "/modules";
  world.environment["CXXFLAGS"] = "-O1";
  world.environment["TMPDIR"] = "/scratch";
  const Path cache = "/home/user/.cache/dsbuild/probe";
  SECTION("below the cache, where a null build asks again") {
    CHECK(world.ask(need_library("z", "deflate")).ok);
    const Command& command = world.processes.started.at(0);
    CHECK(command.is_question);
    CHECK(command.cwd.parent_path() == cache);
    CHECK(world.files.tree(cache) == std::vector<std::string>{command.cwd, command.cwd / "library.c"});
  }
  SECTION("below the build folder, where the cache cannot be written") {
    world.files.fail_writes("/home", "Read-only file system");
    world.settings.build_dir.value = "out dir";
    CHECK(world.ask(need_library("z", "deflate")).ok);
    CHECK_FALSE(world.processes.started.at(0).is_question);
    CHECK(world.processes.started.at(0).cwd.parent_path() == "/project/out dir");
    CHECK(world.files.tree("/project/out dir").empty());
  }
  const Command& command = world.processes.started.at(0);
  CHECK(command.env.at("CPATH") == "/modules");
  CHECK(command.env.count("CXXFLAGS") == 0);
  CHECK(command.env.count("TMPDIR") == 0);
}

TEST_CASE("What a compiler finds is asked again when it is made of other parts") {
  World world;
  install_zlib(world);
  CHECK(world.ask(need_library("z", "deflate")).ok);
  const size_t starts = world.processes.starts();
  CHECK(world.ask(need_library("z", "deflate")).ok);
  CHECK(world.processes.starts() == starts);
  world.compiler_identity = "another that its wrapper starts";
  CHECK(world.ask(need_library("z", "deflate")).ok);
  CHECK(world.processes.starts() > starts);
}

TEST_CASE("One header asked for with two sets of folders is remembered for both") {
  World world;
  install_zlib(world);
  world.add_op("a", {need(RequirementKind::header, {"zlib.h"})}).include_dirs.push_back({"inc", {}, {}});
  world.add_op("b", {need(RequirementKind::header, {"zlib.h"})});
  world.check();
  CHECK(world.processes.starts() == 2);
  world.check();
  CHECK(world.processes.starts() == 2);
}

TEST_CASE("A success is asked for once, until compiler, flags or the file found change") {
  World world;
  install_zlib(world);
  const Requirement header = need(RequirementKind::header, {"zlib.h"});
  const Requirement library = need_library("z", "deflate");
  const Finding first = world.ask(header);
  const Finding second = world.ask(library);
  REQUIRE(world.processes.starts() == 2);
  CHECK(world.ask(header) == first);
  CHECK(world.ask(library) == second);
  CHECK(world.processes.starts() == 2);

  SECTION("another flag") {
    world.settings.cflags.value = {"-m32"};
  }
  SECTION("another compiler under the same name") {
    world.files.touch("/usr/bin/g++");
  }
  SECTION("other files") {
    world.files.touch("/usr/include/zlib.h");
    world.files.touch("/usr/lib/x86_64-linux-gnu/libz.so");
  }
  SECTION("the files are gone") {
    CHECK(world.files.remove_all("/usr/include/zlib.h"));
    CHECK(world.files.remove_all("/usr/lib/x86_64-linux-gnu/libz.so"));
  }
  world.ask(header);
  world.ask(library);
  CHECK(world.processes.starts() == 4);
}

TEST_CASE("A failure is never remembered") {
  World world;
  world.processes.on({"g++"}, FakeProcessRunner::failed("/usr/bin/ld: cannot find -lz\n"));
  CHECK_FALSE(world.ask(need_library("z", "deflate")).ok);
  CHECK_FALSE(world.ask(need_library("z", "deflate")).ok);
  CHECK(world.processes.starts() == 2);
  install_zlib(world);
  CHECK(world.ask(need_library("z", "deflate")).ok);
}

TEST_CASE("A compiler that is absent, cannot start or hangs is a reason") {
  const Requirement requirement = GENERATE(need(RequirementKind::header, {"zlib.h"}), need_library("z", "f"));
  World world;
  CHECK(world.ask(requirement).why ==
        "the test program could not be compiled: /usr/bin/g++: cannot be started: No such file or directory");
  world.processes.on({"g++"}, FakeProcessRunner::out_of_time());
  CHECK(world.ask(requirement).why == "error: the compiler ran for too long");
  world.used_compiler = nullptr;
  const Finding finding = world.ask(requirement);
  CHECK(finding.why == "no C++ compiler found");
  CHECK(finding.fix == "install g++ or clang++, or name one in CXX");
}

TEST_CASE("No folder that can be written is a reason") {
  World world;
  install_zlib(world);
  world.files.fail_writes("/home", "Read-only file system");
  world.files.fail_writes("/project", "Read-only file system");
  const Finding finding = world.ask(need_library("z", "deflate"));
  CHECK_FALSE(finding.ok);
  CHECK(finding.why.find("Read-only file system") != std::string::npos);
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("A subject that would change the test program is refused before anything is started") {
  World world;
  CHECK_FALSE(world.ask(need(RequirementKind::header, {"a.h>\n#include <b.h"})).ok);
  CHECK_FALSE(world.ask(need_library("z", "f(); } void g")).ok);
  CHECK(world.processes.starts() == 0);
}
