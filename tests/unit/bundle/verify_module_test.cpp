// Python modules whose symbols nobody has, of libraries that this machine's compiler makes.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/build_layout.h"
#include "bundle/verify.h"
#include "support/temp_folder.h"

using namespace dsbuild;

namespace {

using Sentences = std::vector<std::string>;

// A build folder with a module, and libraries in folders of their own. This test's program stands for Python.
struct ModuleWorld {
  TempFolder temp;
  std::unique_ptr<FileSystem> files = make_real_file_system();
  ExpectedOp expected{.op = "vecadd_c",
                      .library = "lib/vecadd_c.so",
                      .objects = {},
                      .exports = {},
                      .module = ModuleLink{{"torch"}, {"torch/lib"}, "/proc/self/exe", "torch 2.11.0"}};

  ModuleWorld() { std::filesystem::create_directories(temp.path() / "torch/lib"); }
  // Makes a library, or with other options a program, of C++ text.
  void make(const std::string& file, const std::string& text, const std::string& options = "-shared") const {
    std::filesystem::create_directories((temp.path() / file).parent_path());
    temp.add("a.cpp", text);
    const std::string command = "cd '" + temp.path().string() +
                                "' && c++ -fPIC -Wl,--no-as-needed a.cpp -o '" + file + "' " + options +
                                " 2> errors";
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
  }
  void make_module(const std::string& text, const std::string& options = "-Ltorch/lib -ltorch") const {
    make(expected.library, text, "-shared " + options);
  }
  Sentences verify() const {
    const auto differences = verify_op(expected, temp.path(), *files);
    REQUIRE(differences);
    Sentences sentences;
    for (const Difference& difference : *differences) {
      CHECK(difference.op == expected.op);
      CHECK(difference.file == "vecadd_c.so");
      sentences.push_back(difference.what);
    }
    return sentences;
  }
};

const std::string k_calls = "int vec_add(const float*, int);\nint run() { return vec_add(nullptr, 1); }\n";
const std::string k_defines = "int vec_add(const float*, int) { return 1; }\n";
const std::string k_empty = "int of_torch() { return 1; }\n";
const Sentences k_missing = {
    "vecadd_c: vecadd_c.so needs vec_add(float const*, int), which neither its libraries nor Python has"};
const Sentences k_gone = {"vecadd_c: vecadd_c.so needs gone(), which neither its libraries nor Python has"};

}  // namespace

TEST_CASE("a module that calls what nobody has is told, by the function's own name") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  CHECK(world.verify() == k_missing);
}

TEST_CASE("of an op whose link refuses undefined symbols nothing is asked") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.expected.module.reset();
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("of a module whose symbols may come from elsewhere it is a warning, which is kept as JSON") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.expected.module->warns = true;
  CHECK(parse_expected(render_expected(world.expected), "x").value() == world.expected);
  const auto differences = verify_op(world.expected, world.temp.path(), *world.files);
  REQUIRE(differences);
  REQUIRE(differences->size() == 1);
  CHECK(differences->front().is_warning);
  CHECK(differences->front().what ==
        k_missing.front() + "; a process that imports it must have loaded them before (RTLD_GLOBAL)");
}

// Each of these also calls what nobody has: that it is told shows that the library was asked.
TEST_CASE("what one of its libraries has is there: by -l, by a path, in a library that a library needs") {
  ModuleWorld world;
  const std::string calls_two = k_calls + "int gone();\nint more() { return gone(); }\n";
  world.make("torch/lib/libtorch.so", k_empty);
  SECTION("by -l") {
    world.make("torch/lib/libtorch.so", k_defines);
    world.make_module(calls_two);
  }
  SECTION("by a path") {
    world.make("other/libother.so", k_defines, "-shared -Wl,-soname,libother.so");
    world.make_module(calls_two, "-Ltorch/lib -ltorch other/libother.so");
    CHECK(world.verify() == Sentences{});  // libother.so is not found
    world.expected.module->folders.emplace_back("other");
  }
  SECTION("in the same folder") {
    world.make("torch/lib/libtorch_cpu.so", k_defines);
    world.make("torch/lib/libtorch.so", k_empty, "-shared -Ltorch/lib -ltorch_cpu");
    world.make_module(calls_two);
  }
  SECTION("where the library looks for it") {
    world.make("nvidia/lib/libcublas.so", k_defines);
    world.make("torch/lib/libtorch.so", k_empty,
               "-shared -Lnvidia/lib -lcublas '-Wl,-rpath,/nowhere:$ORIGIN/../../nvidia/lib'");
    world.make_module(calls_two);
  }
  SECTION("where a compiler looks by itself") {
    world.make("compiler/libown.so", k_defines);
    world.temp.add(k_tool_folders_file,
                   "/usr/include\n-L" + (world.temp.path() / "compiler").string() + "\n");
    world.make_module(calls_two, "-Ltorch/lib -ltorch -Lcompiler -lown");
  }
  CHECK(world.verify() == k_gone);
}

TEST_CASE("a library that the linker left out is not loaded") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch_cpu.so", k_defines);
  world.make("torch/lib/libtorch.so", k_empty, "-shared -Ltorch/lib -ltorch_cpu");
  world.make_module(k_calls, "-Wl,--as-needed -Ltorch/lib -ltorch");
  CHECK(world.verify() == k_missing);
}

TEST_CASE("nothing is said where something is not known of the libraries") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  SECTION("one is not found") {
    world.make("torch/lib/libgone.so", k_empty);
    world.make_module(k_calls, "-Ltorch/lib -ltorch -lgone");
    std::filesystem::remove(world.temp.path() / "torch/lib/libgone.so");
  }
  SECTION("one that a library needs is not found") {
    world.make("torch/lib/libgone.so", k_empty);
    world.make("torch/lib/libtorch.so", k_empty, "-shared -Ltorch/lib -lgone");
    world.make_module(k_calls, "-Ltorch/lib -ltorch");
    CHECK(world.verify() == k_missing);
    std::filesystem::remove(world.temp.path() / "torch/lib/libgone.so");
  }
  SECTION("one has the older hash table alone") {
    world.make("torch/lib/libtorch.so", k_empty, "-shared -Wl,--hash-style=sysv");
    world.make_module(k_calls, "-Ltorch/lib -ltorch");
  }
  SECTION("one is a linker's script") {
    world.make_module(k_calls);
    CHECK(world.verify() == k_missing);
    world.temp.add("torch/lib/libtorch.so", "/* a library without symbols */\n");
  }
  SECTION("one that is named by its file is a linker's script") {
    world.expected.module->libraries = {":libcudart.so.13"};
    world.make_module(k_calls);
    CHECK(world.verify() == k_missing);
    world.temp.add("torch/lib/libcudart.so.13", "/* a library without symbols */\n");
  }
  SECTION("one is damaged") {
    world.make_module(k_calls, "-Ltorch/lib -ltorch");
    CHECK(world.verify() == k_missing);
    world.temp.add("torch/lib/libtorch.so",
                   bytes_of(world.temp.path() / "torch/lib/libtorch.so").substr(0, 999));
  }
  SECTION("the interpreter is not found") {
    world.make_module(k_calls);
    CHECK(world.verify() == k_missing);
    world.expected.module->python = "/nowhere/python";
  }
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("an archive is in the module, so it says nothing against it") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.expected.module->libraries.emplace_back(":libmore.a");
  world.temp.add("torch/lib/libmore.a", "!<arch>\n");
  CHECK(world.verify() == k_missing);
}

TEST_CASE("symbols of Python and of sanitizers, weak ones and those of the C library are not missed") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(R"(#include <cstdlib>
#include <string>
extern "C" { int PyList_New(int); int _Py_Dealloc(int); int __asan_init(); int weak() __attribute__((weak)); }
int run(const std::string& text) {
  return PyList_New(1) + _Py_Dealloc(2) + __asan_init() + (weak ? weak() : 0) + std::atoi(text.substr(1).c_str());
})");
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("the C library's symbols are found also where the link did not name it") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(
      "extern \"C\" { double cos(double); void* malloc(unsigned long); }\n"
      "double run(double x) { return malloc(1) ? cos(x) : x; }\n",
      "-nostdlib -Ltorch/lib -ltorch");
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("a symbol that has a version was found by the linker") {
  const ModuleWorld world;
  world.temp.add("versions", "TORCH_2 { global: *; };\n");
  for (const std::string options : {"-shared", "-shared -Wl,--version-script=versions"}) {
    world.make("torch/lib/libtorch.so", k_defines, options);
    world.make_module(k_calls);
    world.make("torch/lib/libtorch.so", k_empty);
    CHECK(world.verify() == (options == "-shared" ? k_missing : Sentences{}));
  }
}

TEST_CASE("a library of another machine is none for this one") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.make("other/libtorch.so", k_defines);
  world.expected.module->folders = {"other", "torch/lib"};
  CHECK(world.verify() == Sentences{});
  std::string bytes = bytes_of(world.temp.path() / "other/libtorch.so");
  bytes[18] = static_cast<char>(bytes[18] + 1);  // e_machine
  world.temp.add("other/libtorch.so", bytes);
  CHECK(world.verify() == k_missing);
}

TEST_CASE("what the interpreter has, or a library of its, is there") {
  ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.make("python/lib/libz.so", "int other() { return 1; }");
  const std::string options = "-no-pie -rdynamic -Lpython/lib -lz '-Wl,-rpath,$ORIGIN/../lib'";
  world.make("python/bin/python", "int main() {}", options);
  std::filesystem::create_directories(world.temp.path() / "venv/bin");
  std::filesystem::create_symlink("../../python/bin/python", world.temp.path() / "venv/bin/python");
  world.expected.module->python = (world.temp.path() / "venv/bin/python").string();
  CHECK(world.verify() == k_missing);
  SECTION("itself") {
    world.make("python/bin/python", k_defines + "int main() {}", options);
  }
  SECTION("a library of its") {
    world.make("python/lib/libz.so", k_defines);
  }
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("what torch loads for the whole process is there") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make_module(k_calls);
  world.make("torch/lib/libcublas.so", k_defines);
  world.make("torch/lib/libtorch_global_deps.so", "", "-shared -Ltorch/lib -lcublas");
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("a library that is there only for links stands for the one of its name") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  world.make("torch/lib/libcuda.so", k_defines, "-shared -Wl,-soname,libcuda_of_test.so.1");
  world.make_module("int gone();\n" + k_calls + "int more() { return gone(); }\n", "-Ltorch/lib -lcuda");
  CHECK(world.verify() == Sentences{});  // libcuda_of_test.so.1 is not found
  std::filesystem::rename(world.temp.path() / "torch/lib/libcuda.so",
                          world.temp.path() / "torch/lib/libcuda_of_test.so");
  CHECK(world.verify() == k_gone);
  world.make("torch/lib/libcuda_of_test.so", k_defines, "-shared -Wl,-soname,libcuda_of_test.so.2");
  CHECK(world.verify() == Sentences{});
}

TEST_CASE("three missing symbols are named, each once, and the others counted") {
  const ModuleWorld world;
  world.make("torch/lib/libtorch.so", k_empty);
  const std::string long_name(300, 'x');
  world.make_module("struct Open { Open(); Open(int); };\nint " + long_name + "();\nextern int data[];\n" +
                    "int run() { Open a; Open b(1); return " + long_name + "() + data[0]; }\n");
  const Sentences sentences = world.verify();
  REQUIRE(sentences.size() == 1);
  CHECK(sentences[0].ends_with(" and 1 more, which neither its libraries nor Python has"));
  CHECK(missing_symbols_sentence("a.so", {"_Z1av", "_ZN4OpenC1Ev", "_ZN4OpenC2Ev", "data"}) ==
        "a.so needs a(), Open::Open(), data, which neither its libraries nor Python has");
  CHECK(missing_symbols_sentence("a.so", {"a", "b", "c", "d", "e"}) ==
        "a.so needs a, b, c and 2 more, which neither its libraries nor Python has");
  CHECK(missing_symbols_sentence("a.so", {long_name}) ==
        "a.so needs " + long_name.substr(0, 200) + "..., which neither its libraries nor Python has");
}

TEST_CASE("what a module is linked with is kept as JSON, and of other ops nothing is") {
  ExpectedOp expected = ModuleWorld().expected;
  const std::string text = render_expected(expected);
  CHECK(*parse_expected(text, "check/vecadd_c.json") == expected);
  expected.module.reset();
  CHECK(render_expected(expected) ==
        "{\n  \"op\": \"vecadd_c\",\n  \"library\": \"lib/vecadd_c.so\",\n  \"objects\": [],\n"
        "  \"exports\": []\n}\n");
  CHECK(*parse_expected(render_expected(expected), "check/vecadd_c.json") == expected);
}
