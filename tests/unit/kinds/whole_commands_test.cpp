// Whole commands of a build, by the words of their actions: compiles of C++, links, precompiled headers,
// hipify. What holds for all kinds of action is in every_kind_test.cpp.
#include <catch2/catch.hpp>

#include "bundle/verify.h"
#include "fakes/action_world.h"

using namespace dsbuild;

namespace {

struct CppWorld : ActionWorld {
  explicit CppWorld(const std::string& text = "int a;\n") {
    source("a.h", "int header;\n");
    write(text);
  }
  void write(const std::string& text) { source("b.cpp", "#include \"a.h\"\n" + text); }
  Ran run_compile(const Args& flags = {}) { return run(compile("b.cpp", flags)); }
  std::string object() const { return files.bytes("obj/adam/b.cpp.o"); }
};

}  // namespace

TEST_CASE("compiles: a comment makes the object again, and its equal bytes are not written") {
  CppWorld world;
  REQUIRE(world.run_compile().code == 0);
  const auto before = world.identities_of(world.compile("b.cpp"));
  world.write("int a;  // says what\n");
  CHECK(world.run_compile().started == Args{"g++"});
  CHECK(world.identities_of(world.compile("b.cpp")) == before);
  CHECK(world.run_compile().made_of == ResultOrigin::record);
  CHECK_FALSE(world.files.exists("obj/adam/b.cpp.o.tmp"));
}

TEST_CASE("compiles: going back to a state that was made takes it from the cache, as far as four are kept") {
  CppWorld world;
  for (const char* number : {"1", "2", "3", "4", "5"}) {
    world.source("a.h", std::string("int header") + number + ";\n");
    REQUIRE(world.run_compile().started == Args{"g++"});
  }
  for (const char* number : {"2", "3", "4", "5"}) {
    world.source("a.h", std::string("int header") + number + ";\n");
    const Ran ran = world.run_compile();
    CHECK(ran.started.empty());
    CHECK(ran.made_of == ResultOrigin::cache);
    CHECK(has(world.object(), std::string("header") + number + ";"));
  }
  world.source("a.h", "int header1;\n");
  CHECK(world.run_compile().started == Args{"g++"});
}

TEST_CASE("compiles: another option, another object; the record knows the words") {
  CppWorld world;
  REQUIRE(world.run_compile({"-DN=1"}).code == 0);
  CHECK(world.run_compile({"-DN=2"}).started == Args{"g++"});
  CHECK(world.run_compile({"-DN=2"}).made_of == ResultOrigin::record);
  CHECK(world.run_compile({"-DN=1"}).started.empty());  // from the cache
}

TEST_CASE("compiles: warnings are said again with what is taken, here and elsewhere") {
  CppWorld world("int warn_gcc;\n");
  const std::string expected = "pack/b.cpp(2): warning #1: int warn_gcc;\n";
  CHECK(world.run_compile().said == expected);
  CHECK(world.run_compile().said == "");
  world.files.add_file("obj/adam/b.cpp.o", "damaged");
  CHECK(world.run_compile().said == expected);
  world.enter("/home/bob");
  const Ran taken = world.run_compile();
  CHECK(taken.started.empty());
  CHECK(taken.said == expected);
  CHECK(world.record_of(world.compile("b.cpp"))->tool_output ==
        std::vector<ToolOutput>{{k_compiler, expected}});
}

TEST_CASE("compiles: what the assembler reads counts where it says so; else the object is made each time") {
  for (const bool tells : {true, false}) {
    INFO(tells);
    CppWorld world("asm .incbin \"pack/data.bin\"\n");
    world.source("data.bin", "one");
    if (!tells) world.telling = "";
    world.enter("/home/ann");
    REQUIRE(world.run_compile().code == 0);
    CHECK((world.run_compile().made_of == ResultOrigin::record) == tells);
    world.source("data.bin", "two");
    CHECK(world.run_compile().started == Args{"g++"});
    CHECK(has(world.object(), sha256("two")));
    world.source("data.bin", "one");
    CHECK(world.run_compile().started == (tells ? Args{} : Args{"g++"}));
    CHECK(has(world.object(), sha256("one")));
    CHECK_FALSE(world.files.exists("obj/adam/b.cpp.o.as.d"));
  }
}

TEST_CASE("compiles: #embed is made each time, and never kept") {
  CppWorld world("#embed \"data.bin\"\n");
  world.source("data.bin", "one");
  CHECK(world.run_compile().started == Args{"g++"});
  CHECK(world.run_compile().started == Args{"g++"});
  world.enter("/home/bob");
  CHECK(world.run_compile().started == Args{"g++"});
}

TEST_CASE("compiles: a header that comes before another is seen, another file is not") {
  CppWorld world("#include <v.h>\n");
  const Args flags = {"-Ipack/first", "-Ipack/include"};
  world.source("include/v.h", "int v;\n");
  REQUIRE(world.run_compile(flags).code == 0);
  world.source("first/w.h", "int w;\n");
  CHECK(world.run_compile(flags).made_of == ResultOrigin::record);
  world.source("first/v.h", "int first_v;\n");
  CHECK(world.run_compile(flags).started == Args{"g++"});
  CHECK(has(world.object(), "first_v"));
}

TEST_CASE("compiles: commands whose files are not all named are made by their tools, and not kept") {
  for (const char* flag : {"@options", "-specs=own", "-fplugin=p.so", "--coverage", "-gsplit-dwarf",
                           "-save-temps", "-v", "-fprofile-use"}) {
    INFO(flag);
    CppWorld world;
    REQUIRE(world.run_compile({flag}).started == Args{"g++"});
    CHECK(world.run_compile({flag}).made_of == ResultOrigin::record);
    world.enter("/home/bob");
    const Ran ran = world.run_compile({flag});
    CHECK(ran.started == Args{"g++"});
    CHECK(ran.cache == "");
  }
}

TEST_CASE("compiles: debug information names the build folder, so each folder makes its own") {
  CppWorld world;
  REQUIRE(world.run_compile({"-g"}).code == 0);
  world.enter("/home/bob");
  CHECK(world.run_compile({"-g"}).started == Args{"g++"});
}

// Sources of several ops

TEST_CASE("shared sources: the object of another op is taken where its text is the same") {
  CppWorld world("int warn_gcc;\n");
  const Action adam = world.compile("b.cpp", {"-DNAME=adam"}, "adam", true);
  const Action lion = world.compile("b.cpp", {"-DNAME=lion"}, "lion", true);
  const Ran first = world.run(adam);
  CHECK(first.started == Args{"cpp", "g++"});
  const Ran ran = world.run(lion);
  CHECK(ran.started == Args{"cpp"});
  CHECK(ran.made_of == ResultOrigin::cache);
  CHECK(ran.said == first.said);
  CHECK(world.bytes_of(lion) == world.bytes_of(adam));
  CHECK(world.run(lion).made_of == ResultOrigin::record);
  world.source("a.h", "int other_header;\n");
  CHECK(world.run(lion).started == Args{"cpp", "g++"});
}

TEST_CASE("shared sources: the header that each op includes by force has no name in the text") {
  CppWorld world;
  for (const std::string op : {"adam", "lion"}) {
    world.plan("pch/" + op + "/torch.h", "int torch;\n");
    const Action compile = world.compile("b.cpp", {"-include", "pch/" + op + "/torch.h"}, op, true);
    CHECK(world.run(compile).started == (op == "adam" ? Args{"cpp", "g++"} : Args{"cpp"}));
  }
}

TEST_CASE("shared sources: a text that says the op's name is compiled for each") {
  CppWorld world("int NAME;\n");
  const Action lion = world.compile("b.cpp", {"-DNAME=lion"}, "lion", true);
  REQUIRE(world.run(world.compile("b.cpp", {"-DNAME=adam"}, "adam", true)).code == 0);
  CHECK(world.run(lion).started == Args{"cpp", "g++"});
  CHECK(has(world.bytes_of(lion).front(), "int lion;"));
}

TEST_CASE("shared sources: another option of the compiler, another object") {
  CppWorld world;
  REQUIRE(world.run(world.compile("b.cpp", {"-O3"}, "adam", true)).code == 0);
  CHECK(world.run(world.compile("b.cpp", {"-O2"}, "lion", true)).started == Args{"cpp", "g++"});
}

TEST_CASE(
    "shared sources: a text whose lines moved or whose comments differ is compiled: warnings name both") {
  CppWorld world;
  REQUIRE(world.run(world.compile("b.cpp", {}, "adam", true)).code == 0);
  world.write("int a;  // falls through\n");
  CHECK(world.run(world.compile("b.cpp", {}, "lion", true)).started == Args{"cpp", "g++"});
  world.write("\nint a;\n");
  CHECK(world.run(world.compile("b.cpp", {}, "lamb", true)).started == Args{"cpp", "g++"});
}

TEST_CASE("shared sources: what the assembler read is not in the text, so no other op takes the object") {
  CppWorld world("asm .incbin \"pack/data.bin\"\n");
  world.source("data.bin", "one");
  REQUIRE(world.run(world.compile("b.cpp", {"-DNAME=adam"}, "adam", true)).code == 0);
  CHECK(world.run(world.compile("b.cpp", {"-DNAME=lion"}, "lion", true)).started == Args{"cpp", "g++"});
}

TEST_CASE("shared sources: where the text cannot be had, the compiler says why") {
  CppWorld world("#error not here\n");
  const Ran ran = world.run(world.compile("b.cpp", {}, "adam", true));
  CHECK(ran.started == Args{"cpp", "g++"});
  CHECK(ran.code == 1);
  CHECK(ran.said == "pack/b.cpp:2:2: error: #error not here\n");
}

// Precompiled headers

namespace {

struct HeaderWorld : CppWorld {
  const std::string header = "pch/a/torch.h";
  const Args flags = {"-I/torch/include", "-include", header};

  explicit HeaderWorld(const std::string& users = "") {
    files.add_file("/torch/include/torch/extension.h", "int torch;\n");
    plan(header, "#include <torch/extension.h>\n");
    if (!users.empty()) plan(header + ".gch.users", users);
  }
  Action header_action() const {
    Action action = precompile(header);
    action.words.insert(action.words.begin() + 5, "-I/torch/include");
    return action;
  }
  std::string precompiled() const { return files.bytes(header + ".gch"); }
  // How many have to need it, and the words of each.
  std::string users(const std::string& number) const {
    return number + "\n" + shell_join(compile("b.cpp", flags).words) + "\n" +
           shell_join(compile("c.cpp", flags).words) + "\n";
  }
};

}  // namespace

TEST_CASE("precompiled headers: what is made of one is made again when a header in it changes") {
  HeaderWorld world;
  REQUIRE(world.run(world.header_action()).started == Args{"g++"});
  CHECK(has(world.precompiled(), "int torch;"));
  REQUIRE(world.run_compile(world.flags).code == 0);
  CHECK(has(world.object(), "int torch;"));
  CHECK(world.run_compile(world.flags).made_of == ResultOrigin::record);
  world.files.add_file("/torch/include/torch/extension.h", "int torch2;\n");
  REQUIRE(world.run(world.header_action()).started == Args{"g++"});
  CHECK(world.run_compile(world.flags).started == Args{"g++"});
  CHECK(has(world.object(), "int torch2;"));
}

TEST_CASE(
    "precompiled headers: one is spared where too few of its users have to be compiled; their objects are "
    "the same") {
  HeaderWorld world;
  world.source("c.cpp", "int c;\n");
  REQUIRE(world.run(world.header_action()).code == 0);
  REQUIRE(world.run_compile(world.flags).code == 0);
  const std::string object = world.object();
  world.enter("/home/bob");
  world.plan(world.header, "#include <torch/extension.h>\n");
  world.plan(world.header + ".gch.users", world.users("2"));  // b.cpp is in the cache, c.cpp alone needs it
  const Ran spared = world.run(world.header_action());
  CHECK(spared.started.empty());
  CHECK(spared.made_of == ResultOrigin::cache);
  CHECK(world.precompiled() == "");
  CHECK(world.files.exists(world.header + ".gch"));
  CHECK(world.run(world.header_action()).made_of == ResultOrigin::record);
  CHECK(world.run(world.compile("c.cpp", world.flags)).started == Args{"g++"});
  REQUIRE(world.files.remove_all("/cache"));
  CHECK(world.run_compile(world.flags).started == Args{"g++"});
  CHECK(world.object() == object);
}

TEST_CASE("precompiled headers: one is made, or taken, where enough of its users have to be compiled") {
  HeaderWorld world;
  world.source("c.cpp", "int c;\n");
  world.plan(world.header + ".gch.users", world.users("2"));
  CHECK(world.run(world.header_action()).started == Args{"g++"});
  world.enter("/home/bob");
  world.plan(world.header, "#include <torch/extension.h>\n");
  world.plan(world.header + ".gch.users", world.users("2"));
  const Ran taken = world.run(world.header_action());
  CHECK(taken.started.empty());
  CHECK(has(world.precompiled(), "int torch;"));
}

// Links

TEST_CASE("links: a library that the linker read counts, and one that comes before it") {
  CppWorld world;
  REQUIRE(world.run_compile().code == 0);
  const Action link = world.link({"obj/adam/b.cpp.o"}, {"-L/first", "-lfirst"});
  world.files.add_file("/cuda/lib64/libfirst.a", "first");
  REQUIRE(world.run(link).code == 0);
  CHECK(world.run(link).made_of == ResultOrigin::record);
  world.files.add_file("/cuda/lib64/libfirst.a", "other");
  CHECK(world.run(link).started == Args{"ld"});
  world.files.add_file("/first/libfirst.a", "before");
  CHECK(world.run(link).started == Args{"ld"});
}

TEST_CASE("links: a linker that does not say what it read is run each time") {
  CppWorld world;
  REQUIRE(world.run_compile().code == 0);
  Action link = world.link({"obj/adam/b.cpp.o"});
  std::erase_if(link.words,
                [](const std::string& word) { return word.starts_with("-Wl,--dependency-file"); });
  REQUIRE(world.run(link).code == 0);
  CHECK(world.run(link).started == Args{"ld"});
  CHECK(world.record_of(link)->incomplete == "lib/adam.so");
}

TEST_CASE("links: another list of objects, another library; equal bytes are not written") {
  CppWorld world;
  world.source("c.cpp", "int c;\n");
  REQUIRE(world.run_compile().code == 0);
  REQUIRE(world.run(world.compile("c.cpp")).code == 0);
  REQUIRE(world.run(world.link({"obj/adam/b.cpp.o"})).code == 0);
  const std::string one = world.files.bytes("lib/adam.so");
  CHECK(world.run(world.link({"obj/adam/b.cpp.o", "obj/adam/c.cpp.o"})).started == Args{"ld"});
  CHECK(world.files.bytes("lib/adam.so") != one);
  CHECK(world.run(world.link({"obj/adam/b.cpp.o"})).started.empty());
  CHECK(world.files.bytes("lib/adam.so") == one);
}

TEST_CASE("device links: warnings are said again with what is taken") {
  ActionWorld world;
  for (const auto& [linker, flag] : {std::pair("nvcc", "-dlink"), std::pair("icpx", "-fsycl-link")}) {
    INFO(linker);
    world.plan("obj/adam/a.cu.o", "relocatable");
    const Action link = world.device_link({"obj/adam/a.cu.o"}, {flag, "-warn"}, linker);
    CHECK(world.run(link).said == "the link warns\n");
    world.enter("/home/bob");
    world.plan("obj/adam/a.cu.o", "relocatable");
    const Ran taken = world.run(world.device_link({"obj/adam/a.cu.o"}, {flag, "-warn"}, linker));
    CHECK(taken.started.empty());
    CHECK(taken.said == "the link warns\n");
    world.enter("/home/ann");
    world.plan("obj/adam/a.cu.o", "other code");
    CHECK(world.run(link).started == Args{linker});
  }
}

// HIP

TEST_CASE("hipify: a failure says what hipify said, and the tree stays") {
  ActionWorld world;
  world.source("a.cu", "cuda\n");
  REQUIRE(world.run(world.hipify({"a.cu"})).code == 0);
  CHECK(world.files.bytes("hipify/adam/a.cu") == "HIP of cuda\n");
  world.source("a.cu", "fail_hipify\n");
  const Ran ran = world.run(world.hipify({"a.cu"}));
  CHECK(ran.code == 1);
  CHECK(ran.said == "InputError: a.cu\n");
  CHECK(world.files.bytes("hipify/adam/a.cu") == "HIP of cuda\n");
  CHECK_FALSE(world.has_record(world.hipify({"a.cu"})));
}

TEST_CASE("hipify: a header that comes nearer to a source is seen") {
  ActionWorld world;
  world.source("a.cu", "#include \"far.h\"\n");
  world.source("sub/far.h", "far\n");
  REQUIRE(world.run(world.hipify({"a.cu"})).code == 0);
  world.source("far.h", "near\n");
  CHECK(world.run(world.hipify({"a.cu"})).started == Args{"python3"});
}

TEST_CASE("bundles: the object defines what the host's object refers to, and has all images") {
  ActionWorld world;
  const auto host = [](const std::vector<std::string>& names) {
    std::vector<samples::Symbol> symbols;
    for (const std::string& name : names)
      symbols.push_back({.name = name, .section = 0});
    return samples::elf(samples::symbol_sections(symbols, 1, false), {.type = 1});
  };
  world.plan("obj/adam/a.gfx90a", "the image");
  world.plan("obj/adam/host.o", host({"__hip_fatbin_ab", "__hip_gpubin_handle_cd"}));
  const Action bundle = world.bundle("obj/adam/host.o", "obj/adam/a.gfx90a");
  REQUIRE(world.run(bundle).code == 0);
  const std::string object = world.bytes_of(bundle).front();
  CHECK(has(object, "__hip_fatbin_ab:\n.incbin"));
  CHECK(has(object, "__hip_gpubin_handle_cd:\n.zero 8"));
  CHECK(has(object, "hip-gfx90a"));
  CHECK(has(object, "the image"));
  world.plan("obj/adam/host.o", host({"main"}));
  REQUIRE(world.run(bundle).started == Args{"clang++"});
  CHECK_FALSE(has(world.bytes_of(bundle).front(), ".globl"));
  world.plan("obj/adam/host.o", "no ELF");
  CHECK(world.run(bundle).error == "bad_elf");
  CHECK_FALSE(world.has_record(bundle));
}

TEST_CASE(
    "verify: a library that is as planned leaves a stamp; another is told, and the next run looks again") {
  ActionWorld world;
  const Action verify{{"verify", "-", "check/adam.ok", "check/adam.json"}, {"check/adam.ok"}};
  world.plan("lib/adam.so", samples::library({}, {"adam_run"}));
  world.plan("check/adam.json", render_expected({"adam", "lib/adam.so", {}, {"adam_run"}}));
  CHECK(world.run(verify).made_of == ResultOrigin::tools);
  CHECK(world.bytes_of(verify).front() == "ok\n");
  CHECK(world.run(verify).made_of == ResultOrigin::record);
  world.plan("lib/adam.so", samples::library({}, {"other"}));
  const Ran ran = world.run(verify);
  CHECK(ran.code == 1);
  CHECK(ran.said == "error: adam: adam.so does not export adam_run\n");
  CHECK_FALSE(world.has_record(verify));
  CHECK(world.run(verify).code == 1);
  world.plan("lib/adam.so", "no library");
  CHECK(world.run(verify).error == "bad_elf");
}
