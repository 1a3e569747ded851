// What a machine knows of compilers that got a copy of another machine's cache.
#include <catch2/catch.hpp>

#include "unit/toolkit/compilers.h"

using namespace dsbuild;

namespace {

// One that has asked everything, and another one that got its cache.
struct Moved : Compilers {
  Toolkits toolkits;
  Result<ToolText> parts;

  Moved() {
    has_cache = true;
    processes.on({"/usr/bin/g++", "--version"}, [](const Command& command) {
      const bool is_of_loader = command.env.count("LD_TRACE_LOADED_OBJECTS") == 1;
      return FakeProcessRunner::succeeded(is_of_loader ? "\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n"
                                                       : gcc_says("12.2.0"));
    });
    files.add_file("/lib/libc.so.6", "libc");
    add_toolkit("/usr/local/cuda", "12.4");
    answer_dry_runs();
  }

  void answer_dry_runs() {
    processes.on({"/usr/local/cuda/bin/nvcc", "--dryrun"},
                 FakeProcessRunner::succeeded("", "#$ _HERE_=/usr/local/cuda/bin\n#$ /own/cc1plus -x\n"));
  }

  void ask_and_move() {
    look();
    REQUIRE(toolkits.found.size() == 1);
    REQUIRE(parts);
    REQUIRE(processes.starts() > 10);
    move();
  }

  // All that a plan asks.
  void look() {
    toolkits = find();
    Known known(*this);
    HostCompilerParts hosts;
    parts = parts_of_toolkit(toolkits.found.at(0), hosts, system, known.facts, known.digests);
    known.facts.save();
  }

  size_t starts_after_look() {
    look();
    return processes.starts();
  }
};

}  // namespace

TEST_CASE("A machine that got a cache starts no compiler to know what it is") {
  Moved machine;
  machine.ask_and_move();
  const Toolkits toolkits = machine.toolkits;
  const auto parts = machine.parts;
  CHECK(machine.starts_after_look() == 0);
  CHECK(machine.toolkits == toolkits);
  CHECK(machine.parts == parts);
  // It is known here from now on, whatever becomes of the cache.
  REQUIRE(machine.files.remove_all("/cache/store"));
  CHECK(machine.starts_after_look() == 0);
}

TEST_CASE("Without a cache each machine asks for itself") {
  Moved machine;
  machine.has_cache = false;
  machine.ask_and_move();
  CHECK(machine.starts_after_look() > 10);
}

TEST_CASE("A machine whose compilers are others asks them, though it got a cache") {
  Moved machine;
  machine.ask_and_move();
  SECTION("the compiler's bytes") {
    machine.files.add_file("/usr/bin/g++", k_machine_code + "newer", true);
    machine.processes.on({"/usr/bin/g++", "--version"}, gcc_says("13.1.0"));
    CHECK(machine.starts_after_look() > 0);
    CHECK(machine.toolkits.host_compilers.at(0).version.text() == "13.1.0");
  }
  SECTION("nvcc's bytes") {
    machine.add_toolkit("/usr/local/cuda", "12.8");
    CHECK(machine.starts_after_look() > 0);
    CHECK(machine.toolkits.found.at(0).version.short_text() == "12.8");
  }
  SECTION("the bytes of a library that the compiler loads") {
    machine.files.add_file("/lib/libc.so.6", "newer");
    machine.look();
    CHECK(machine.questions("g++") >= 7);  // its version, and what it would run
  }
  SECTION("the bytes of a program that it starts") {
    machine.files.add_file("/own/cc1plus", k_machine_code + "newer", true);
    machine.look();
    CHECK(machine.processes.starts("cc1plus") > 0);
    CHECK(machine.processes.starts("nvcc") > 0);
  }
  SECTION("specs, which come to be in its folder") {
    machine.files.add_file("/own/specs", "*cc1plus:\n");
    machine.look();
    CHECK(machine.processes.starts("g++") >= 6);
  }
  SECTION("specs, which are others") {
    machine.files.add_file("/own/specs", "*cc1plus:\n");
    machine.look();
    machine.move();
    CHECK(machine.starts_after_look() == 0);
    machine.move();
    machine.files.add_file("/own/specs", "*cc1plus: -O9\n");
    CHECK(machine.starts_after_look() > 0);
  }
  SECTION("nvcc.profile") {
    machine.files.add_file("/usr/local/cuda/bin/nvcc.profile", "NVVM_BRANCH_SUFFIX=\n");
    machine.look();
    CHECK(machine.processes.starts("nvcc") > 0);
  }
  SECTION("a variable that compilers read") {
    machine.set("CPATH", "/modules/include");
    machine.look();
    CHECK(machine.processes.starts("g++") >= 6);
    CHECK(machine.processes.starts("nvcc") > 0);
  }
  SECTION("the loader's cache") {
    machine.files.add_file("/etc/ld.so.cache", "/opt/lib/libc.so.6");
    machine.look();
    CHECK(machine.processes.starts("g++") > 0);
  }
}

TEST_CASE("The loader is asked on each machine where its answer depends on more than bytes") {
  Moved machine;
  machine.files.add_directory("/more");
  SECTION("on folders where it looks first") {
    machine.set("LD_LIBRARY_PATH", "/more");
  }
  SECTION("on the processor") {
    machine.files.add_file("/etc/ld.so.cache", "/lib/glibc-hwcaps/x86-64-v3/libc.so.6");
  }
  machine.ask_and_move();
  machine.look();
  CHECK(machine.processes.starts("cc1plus") == 1);
  for (const Command& command : machine.processes.started)
    CHECK(command.env.count("LD_TRACE_LOADED_OBJECTS") == 1);
}

TEST_CASE("What a wrapper says is asked on each machine") {
  Moved machine;
  SECTION("of a program that starts another one") {
    machine.make_wrapper("-DSITE=1");
  }
  SECTION("of a script") {
    machine.files.add_file("/usr/bin/g++", "#!/bin/sh\nexec /own/g++ \"$@\"\n", true);
  }
  machine.ask_and_move();
  machine.processes.on({"/usr/bin/g++", "--version"}, gcc_says("11.4.0"));
  machine.look();
  CHECK(machine.toolkits.host_compilers.at(0).version.text() == "11.4.0");
  CHECK(machine.processes.starts("nvcc") > 0);
}

TEST_CASE("What clang would run is asked on each machine: it looks in more folders than it names") {
  Moved machine;
  machine.processes.on({"/usr/bin/g++", "-c"},
                       FakeProcessRunner::succeeded("", "clang version 14\n \"/usr/bin/g++\" \"-cc1\"\n"));
  machine.ask_and_move();
  machine.look();
  CHECK(machine.processes.starts("g++") == 6);  // the questions, and no other
}

TEST_CASE("A cache that lost what a fact is, or has damaged it, makes a machine ask") {
  Moved machine;
  machine.ask_and_move();
  for (const std::string& path : machine.files.tree("/cache/store/cas"))
    if (machine.files.kind(path) == FileKind::file) machine.files.add_file(path, "x");
  const auto parts = machine.parts;
  CHECK(machine.starts_after_look() > 10);
  CHECK(machine.parts == parts);
}
