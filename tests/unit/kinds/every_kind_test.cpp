// What holds for every kind of action, whatever it makes: one table of kinds, and each scenario for all of
// them.
#include <catch2/catch.hpp>

#include "fakes/action_world.h"

using namespace dsbuild;

namespace {

const std::string k_header = "pack/a.h", k_runtime = "/cuda/targets/x86_64-linux/include/fatbinary_section.h",
                  k_cudart = "/cuda/lib64/libcudart_static.a", k_torch = "/torch/include/torch/extension.h";

struct Kind {
  const char* name = "";
  std::function<void(ActionWorld&)> prepare;  // makes what the action reads, of the sources as they are
  std::function<Action(ActionWorld&)> action;
  Args tools;                              // where nothing is known
  std::function<void(ActionWorld&)> edit;  // of what is then prepared again
  std::string read;  // by `tools`: a file that may change meanwhile; "": it reads outputs alone
};

void no_preparation(ActionWorld&) {}
void edit_device_code(ActionWorld& world) {
  world.source("a.cu", "#include \"a.h\"\n__global__ void k() { 2 }\n__global__ void l() { 3 }\nint host;\n");
}
void edit_host_code(ActionWorld& world) {
  world.source("a.cu", "#include \"a.h\"\n__global__ void k() { 1 }\nint other_host;\n");
}
void edit_cpp(ActionWorld& world) {
  world.source("b.cpp", "#include \"a.h\"\nint cpp2;\n");
}
std::function<void(ActionWorld&)> edit_file(const std::string& path, const std::string& bytes) {
  return [=](ActionWorld& world) { world.files.add_file(path, bytes); };
}
std::function<void(ActionWorld&)> run_parts(const Args& parts) {
  return [=](ActionWorld& world) {
    for (const std::string& part : parts)
      REQUIRE(world.run(world.slice(part)).code == 0);
  };
}
std::function<Action(ActionWorld&)> slice(const std::string& part) {
  return [=](ActionWorld& world) { return world.slice(part); };
}

std::string host_object(const std::string& symbol) {
  return samples::elf(samples::symbol_sections({{.name = symbol, .section = 0}}, 1, false), {.type = 1});
}

std::vector<Kind> parts_of_source() {
  return {
      {"front", no_preparation, slice("front"), {"cpp", "cudafe++"}, edit_host_code, k_header},
      {"device", no_preparation, slice("compute_80"), {"cpp", "cicc", "ptxas"}, edit_device_code, k_header},
      {"device and PTX",
       no_preparation,
       slice("compute_90"),
       {"cpp", "cicc", "ptxas"},
       edit_device_code,
       k_header},
      {"host", run_parts({"front", "compute_90"}), slice("host"), {"g++"}, edit_host_code, k_runtime},
      {"fatbin",
       run_parts({"compute_80", "compute_90"}),
       slice("fatbin"),
       {"fatbinary", "as"},
       edit_device_code,
       ""},
  };
}

std::vector<Kind> compiles() {
  return {
      {"compile",
       no_preparation,
       [](ActionWorld& world) { return world.compile("b.cpp"); },
       {"g++"},
       edit_cpp,
       k_header},
      {"compile that is known by its text",
       no_preparation,
       [](ActionWorld& world) { return world.compile("b.cpp", {"-DNAME=adam"}, "adam", true); },
       {"cpp", "g++"},
       edit_cpp,
       k_header},
      {"HIP slice",
       no_preparation,
       [](ActionWorld& world) {
         return world.compile("b.cpp", {"--offload-arch=gfx90a"}, "adam", false, "clang++");
       },
       {"clang++"},
       edit_cpp,
       k_header},
      {"precompiled header",
       [](ActionWorld& world) { world.plan("pch/a/torch.h", "#include <torch/extension.h>\n"); },
       [](ActionWorld& world) {
         Action action = world.precompile("pch/a/torch.h");
         action.words.insert(action.words.begin() + 5, "-I/torch/include");
         return action;
       },
       {"g++"},
       edit_file(k_torch, "int torch2;\n"),
       k_torch},
      {"link",
       [](ActionWorld& world) { REQUIRE(world.run(world.compile("b.cpp")).code == 0); },
       [](ActionWorld& world) { return world.link({"obj/adam/b.cpp.o"}); },
       {"ld"},
       edit_cpp,
       k_cudart},
  };
}

std::vector<Kind> others() {
  return {
      {"device link",
       [](ActionWorld& world) {
         world.plan("obj/adam/a.cu.o", "relocatable" + world.files.bytes("pack/a.cu"));
       },
       [](ActionWorld& world) { return world.device_link({"obj/adam/a.cu.o"}); },
       {"nvcc"},
       edit_device_code,
       ""},
      {"SYCL's device link",
       [](ActionWorld& world) { world.plan("obj/adam/a.o", "relocatable" + world.files.bytes("pack/a.cu")); },
       [](ActionWorld& world) {
         return world.device_link({"obj/adam/a.o"}, {"-fsycl", "-fsycl-link"}, "icpx");
       },
       {"icpx"},
       edit_device_code,
       ""},
      {"hipify",
       no_preparation,
       [](ActionWorld& world) { return world.hipify({"a.cu", "b.cpp"}); },
       {"python3"},
       edit_device_code,
       k_header},
      {"bundle",
       [](ActionWorld& world) {
         world.plan("obj/adam/host.o", host_object("__hip_fatbin_ab"));
         world.plan("obj/adam/a.gfx90a", "image of " + world.files.bytes("pack/a.cu"));
       },
       [](ActionWorld& world) { return world.bundle("obj/adam/host.o", "obj/adam/a.gfx90a"); },
       {"clang++"},
       edit_device_code,
       ""},
  };
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> joined;
    for (const std::vector<Kind>& some : {parts_of_source(), compiles(), others()})
      joined.insert(joined.end(), some.begin(), some.end());
    return joined;
  }();
  return all;
}

struct KindWorld : ActionWorld {
  explicit KindWorld(Kind its_kind) : kind(std::move(its_kind)) {
    source("a.cu", "#include \"a.h\"\n__global__ void k() { 1 }\nint host;\n");
    source("b.cpp", "#include \"a.h\"\nint cpp;\n");
    source("a.h", "int header;\n");
    files.add_file(k_torch, "int torch;\n");
  }

  // What comes before it, and the action.
  Ran make() {
    kind.prepare(*this);
    return run(action());
  }
  Action action() { return kind.action(*this); }
  std::vector<std::string> outputs() { return bytes_of(action()); }
  void without_cache() {
    cache = "";
    enter("/home/ann");
  }

  const Kind kind;
};

// What is made of the same files where nothing was made before.
std::vector<std::string> made_from_scratch(const KindWorld& as,
                                           const std::function<void(KindWorld&)>& change) {
  KindWorld world(as.kind);
  world.without_cache();
  change(world);
  REQUIRE(world.make().code == 0);
  return world.outputs();
}

template <class Scenario>
void for_each_kind(const Scenario& scenario) {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    KindWorld world(kind);
    scenario(world);
  }
}

void edit(KindWorld& world) {
  world.kind.edit(world);
}

}  // namespace

TEST_CASE("actions: where nothing is known all tools run, and where the record holds none") {
  for_each_kind([](KindWorld& world) {
    const Ran made = world.make();
    CHECK(made.code == 0);
    CHECK(made.started == world.kind.tools);
    CHECK(made.made_of == ResultOrigin::tools);
    CHECK(made.cache.find('h') == std::string::npos);
    CHECK_FALSE(made.cache.empty());
    CHECK(world.has_record(world.action()));
    const auto before = world.identities_of(world.action());
    const Ran again = world.run(world.action());
    CHECK(again.made_of == ResultOrigin::record);
    CHECK(again.started.empty());
    CHECK(world.identities_of(world.action()) == before);
  });
}

TEST_CASE("actions: another build folder gets the bytes from the cache, and its record holds then") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    const auto bytes = world.outputs();
    world.enter("/home/bob");
    const Ran ran = world.make();
    CHECK(ran.started.empty());
    CHECK(ran.made_of == ResultOrigin::cache);
    CHECK(ran.cache.find('m') == std::string::npos);
    CHECK_FALSE(ran.cache.empty());
    CHECK(world.outputs() == bytes);
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
  });
}

TEST_CASE("actions: without a cache other build folders make their own, equal ones") {
  for_each_kind([](KindWorld& world) {
    world.without_cache();
    Args tools = world.kind.tools;
    if (tools == Args{"cpp", "g++"}) tools = {"g++"};  // a text is only looked for in a cache
    const Ran ran = world.make();
    CHECK(ran.started == tools);
    CHECK(ran.made_of == ResultOrigin::tools);
    CHECK(ran.cache == "");
    const auto bytes = world.outputs();
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
    world.enter("/home/bob");
    CHECK(world.make().started == tools);
    CHECK(world.outputs() == bytes);
  });
}

TEST_CASE("actions: a cache that cannot be written is read, and nothing fails") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    const auto bytes = world.outputs();
    world.files.fail_writes("/cache", "Read-only file system");
    world.enter("/home/bob");
    CHECK(world.make().started.empty());
    CHECK(world.outputs() == bytes);
    edit(world);
    CHECK(world.make().code == 0);
    CHECK(world.outputs() == made_from_scratch(world, edit));
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
  });
}

TEST_CASE("actions: a damaged entry is a miss, and is replaced") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    const auto bytes = world.outputs();
    world.enter("/home/bob");
    world.kind.prepare(world);
    world.damage_cache();
    const Ran ran = world.run(world.action());
    CHECK(ran.started == world.kind.tools);
    CHECK(ran.cache.find('h') == std::string::npos);
    CHECK(world.outputs() == bytes);
    // A damaged list of headers is only replaced when somebody finds a record that names it: one list a time.
    const Args homes = {"/home/eve", "/home/zoe", "/home/joe", "/home/sue"};
    const bool is_healed = std::ranges::any_of(homes, [&](const std::string& home) {
      world.enter(home);
      world.kind.prepare(world);
      const bool starts_nothing = world.run(world.action()).started.empty();
      CHECK(world.outputs() == bytes);
      return starts_nothing;
    });
    CHECK(is_healed);
  });
}

TEST_CASE("actions: an edit makes what a build from scratch makes, and going back takes what was there") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    const auto bytes = world.outputs();
    edit(world);
    CHECK(world.make().made_of == ResultOrigin::tools);
    CHECK(world.outputs() == made_from_scratch(world, edit));
    CHECK(world.outputs() != bytes);
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
  });
}

TEST_CASE("actions: other tools make everything again") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    world.plan(world.action().words.at(1), "00fe another version\n");
    world.plan(k_device_id_file, "00fe another version\n");
    const Ran ran = world.run(world.action());
    CHECK(ran.started == world.kind.tools);
    CHECK(ran.made_of == ResultOrigin::tools);
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
  });
}

TEST_CASE("actions: an output that is damaged or gone is mended") {
  for_each_kind([](KindWorld& world) {
    REQUIRE(world.make().code == 0);
    const auto bytes = world.outputs();
    for (const std::string& output : world.action().outputs) {
      INFO(output);
      world.files.add_file(output, "damaged");
      const Ran mended = world.run(world.action());
      CHECK(mended.made_of != ResultOrigin::record);
      CHECK(mended.started.empty());
      CHECK(world.outputs() == bytes);
      REQUIRE(world.files.remove_all(output));
      CHECK(world.run(world.action()).code == 0);
      CHECK(world.outputs() == bytes);
      CHECK(world.run(world.action()).made_of == ResultOrigin::record);
    }
  });
}

TEST_CASE("actions: a tool that fails is told, leaves no record and the outputs that were there") {
  for (const Kind& kind : kinds()) {
    const auto edited = made_from_scratch(KindWorld(kind), edit);
    for (const std::string& tool : kind.tools) {
      INFO(kind.name << ": " << tool);
      KindWorld world(kind);
      REQUIRE(world.make().code == 0);
      const auto bytes = world.outputs();
      edit(world);
      kind.prepare(world);
      const size_t entries = world.entries_in_cache();
      world.tools.failing = {tool};
      const Ran ran = world.run(world.action());
      // Where the preprocessor that only gives a key fails, the compiler says why.
      const bool compiler_decides =
          std::string(kind.name) == "compile that is known by its text" && tool == "cpp";
      if (!compiler_decides) {
        CHECK((ran.code != 0 || !ran.error.empty()));
        CHECK(ran.said.find(tool + " does not like it") != std::string::npos);
        CHECK((!ran.started.empty() && ran.started.back() == tool));
        CHECK_FALSE(world.has_record(world.action()));
        CHECK(world.outputs() == bytes);
        CHECK(world.entries_in_cache() == entries);
        const bool reads_source = world.action().words.at(0) == "slice" && kind.tools.front() == "cpp";
        CHECK((ran.said.find(
                   "the same with nvcc alone: nvcc -O3 -gencode=arch=compute_80,code=sm_80 -c pack/a.cu "
                   "-o /dev/null\n") != std::string::npos) == reads_source);
      }
      world.tools.failing = {};
      CHECK(world.run(world.action()).code == 0);
      CHECK(world.outputs() == edited);
      CHECK(world.run(world.action()).made_of == ResultOrigin::record);
    }
  }
}

TEST_CASE("actions: after a kill at any tool the next run makes what a build from scratch makes") {
  for (const Kind& kind : kinds()) {
    const auto bytes = made_from_scratch(KindWorld(kind), edit);
    for (const std::string& tool : kind.tools)
      for (const bool has_written : {false, true}) {
        INFO(kind.name << ": " << tool << (has_written ? ", once it had written" : ""));
        KindWorld world(kind);
        REQUIRE(world.make().code == 0);
        edit(world);
        kind.prepare(world);
        (has_written ? world.tools.after : world.tools.before)[tool] = [] { throw ActionWorld::Killed{}; };
        CHECK(world.run(world.action()).code == 137);
        CHECK_FALSE(world.has_record(world.action()));
        world.tools.before.clear();
        world.tools.after.clear();
        CHECK(world.run(world.action()).code == 0);
        CHECK(world.outputs() == bytes);
        CHECK(world.run(world.action()).made_of == ResultOrigin::record);
        if (!has_written) continue;
        world.enter("/home/bob");
        CHECK(world.make().code == 0);
        CHECK(world.outputs() == bytes);
      }
  }
}

TEST_CASE(
    "actions: a file that changes while a tool runs leaves a record that does not hold, here and elsewhere") {
  for_each_kind([](KindWorld& world) {
    if (world.kind.read.empty()) return;
    const auto change = [](KindWorld& changed) { changed.edit_now(changed.kind.read, "int meanwhile;\n"); };
    world.kind.prepare(world);
    world.tools.after[world.kind.tools.front()] = [&] { change(world); };
    REQUIRE(world.run(world.action()).code == 0);
    world.tools.after.clear();
    world.wait_a_second();
    const auto bytes = made_from_scratch(
        world, [&](KindWorld& other) { other.files.add_file(other.kind.read, "int meanwhile;\n"); });
    const Ran again = world.make();
    CHECK(again.made_of != ResultOrigin::record);
    CHECK(world.outputs() == bytes);
    CHECK(world.run(world.action()).made_of == ResultOrigin::record);
    world.enter("/home/bob");
    REQUIRE(world.make().code == 0);
    CHECK(world.outputs() == bytes);
  });
}

TEST_CASE("actions: words that are no action are refused") {
  ActionWorld world;
  for (const Args& words :
       {Args{}, Args{"run"}, Args{"other", "-", "x", "--", "g++"}, Args{"run", "-", "x", "g++"},
        Args{"run", "-", "x", "--"}, Args{"slice", "-", "x", "y"}, Args{"verify", "-", "x", "y", "z"},
        Args{"hipify", "-", "x", "--", "python3"}, Args{"bundle", "-", "x", "y", "--", "clang++"},
        Args{"compare", "-", "x", "y", "z"}}) {
    INFO(shell_join(words));
    CHECK(world.run({words, {}}).error == "bad_option");
    CHECK(world.processes.starts() == 0);
  }
}
