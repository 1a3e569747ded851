// Where tvm-ffi is looked for. The layout is that of the wheel apache_tvm_ffi-0.1.15.
#include <catch2/catch.hpp>

#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

void install(World& world, const Path& home, const std::string& minor, const std::string& patch) {
  world.files.add_file(home / "lib/libtvm_ffi.so", "");
  world.files.add_file(home / "include/dlpack/dlpack.h", "");
  world.files.add_file(home / "include/tvm/ffi/c_api.h",
                       "#ifndef TVM_FFI_C_API_H_\n/*! \\brief The major version */\n"
                       "#define TVM_FFI_VERSION_MAJOR 0\n#define TVM_FFI_VERSION_MINOR " +
                           minor + "\n#define  TVM_FFI_VERSION_PATCH\t" + patch + "\n");
}

const Requirement k_any = need_version(RequirementKind::tvm_ffi, ">=0.1.15");

}  // namespace

TEST_CASE("tvm-ffi gives its include folder, its library and the version for the manifest") {
  World world;
  install(world, "/usr/local/lib/python3.11/dist-packages/tvm_ffi", "1", "15");
  const Finding finding = world.ask(k_any);
  CHECK(finding.ok);
  CHECK(finding.why == "0.1.15 in /usr/local/lib/python3.11/dist-packages/tvm_ffi");
  CHECK(finding.version == "0.1.15");
  const std::string home = "/usr/local/lib/python3.11/dist-packages/tvm_ffi";
  UsageRequirements usage = given({home + "/include"}, {}, {"-L" + home + "/lib", "-ltvm_ffi"});
  usage.roots = {{"tvm_ffi", home}};
  CHECK(finding.usage == usage);
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("tvm-ffi without dlpack beside its headers brings dlpack from 3rdparty") {
  World world;
  const Path home = "/usr/local/lib/python3.11/dist-packages/tvm_ffi";
  install(world, home, "1", "15");
  CHECK(world.files.remove_all(home / "include/dlpack"));
  CHECK(world.ask(k_any).usage.include_dirs ==
        std::vector<std::string>{home / "include", home / "3rdparty/dlpack/include"});
}

TEST_CASE("tvm-ffi is taken from the first place that has it") {
  World world;
  world.environment["VIRTUAL_ENV"] = "/venv";
  world.environment["CONDA_PREFIX"] = "/conda";
  world.environment["PATH"] = "/opt/python/bin";
  world.program = "/other/venv/bin/dsbuild";
  world.files.add_file("/opt/python/bin/python3", "", true);
  const std::vector<Path> places{
      "/home/user/.cache/dsbuild/tvm_ffi/0.1.15/tvm_ffi",
      "/venv/lib/python3.12/site-packages/tvm_ffi",
      "/venv/lib/python3.9/site-packages/tvm_ffi",
      "/conda/lib/python3.11/site-packages/tvm_ffi",
      "/home/user/.local/lib/python3.11/site-packages/tvm_ffi",
      "/other/venv/lib/python3.10/site-packages/tvm_ffi",
      "/usr/local/lib/python3.11/dist-packages/tvm_ffi",
      "/usr/lib/python3/dist-packages/tvm_ffi",
      "/opt/python/lib/python3.11/site-packages/tvm_ffi",
  };
  for (const Path& place : places)
    install(world, place, "1", "15");
  for (const Path& place : places) {
    CHECK(world.ask(k_any).why == "0.1.15 in " + place.string());
    CHECK(world.files.remove_all(place));
  }
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("The highest tvm-ffi of dsbuild's cache is taken, by number and not by letter") {
  World world;
  install(world, "/home/user/.cache/dsbuild/tvm_ffi/0.1.9/tvm_ffi", "1", "9");
  install(world, "/home/user/.cache/dsbuild/tvm_ffi/0.1.15/tvm_ffi", "1", "15");
  CHECK(world.ask(need_version(RequirementKind::tvm_ffi, ">=0.1")).version == "0.1.15");
}

TEST_CASE("The packages of a python3 behind a link are found by its real path too") {
  World world;
  world.files.add_file("/opt/python/bin/python3.11", "", true);
  world.files.add_link("/usr/bin/python3", "/opt/python/bin/python3.11");
  install(world, "/opt/python/lib/python3.11/site-packages/tvm_ffi", "1", "15");
  CHECK(world.ask(k_any).ok);
}

TEST_CASE("A tvm-ffi out of range is passed over for one in range, and named where there is none") {
  World world;
  install(world, "/usr/local/lib/python3.11/dist-packages/tvm_ffi", "1", "3");
  const Finding finding = world.ask(k_any);
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "tvm-ffi 0.1.3 in /usr/local/lib/python3.11/dist-packages/tvm_ffi is not >=0.1.15");
  install(world, "/usr/lib/python3/dist-packages/tvm_ffi", "2", "0");
  CHECK(world.ask(k_any).version == "0.2.0");
}

TEST_CASE("A folder that lacks the library or the header's version is no tvm-ffi") {
  World world;
  const Path home = "/usr/local/lib/python3.11/dist-packages/tvm_ffi";
  install(world, home, "1", "15");
  SECTION("no library") {
    CHECK(world.files.remove_all(home / "lib"));
  }
  SECTION("no header") {
    CHECK(world.files.remove_all(home / "include"));
  }
  SECTION("no version") {
    world.files.add_file(home / "include/tvm/ffi/c_api.h", "#pragma once\n");
  }
  CHECK(world.ask(k_any).why == "tvm-ffi not found (no python3 on PATH)");
}

TEST_CASE("TVM_FFI_HOME is a demand: nothing else is looked at") {
  World world;
  world.environment["TVM_FFI_HOME"] = "/demanded";
  install(world, "/usr/local/lib/python3.11/dist-packages/tvm_ffi", "1", "15");
  CHECK(world.ask(k_any).why ==
        "TVM_FFI_HOME: no include/tvm/ffi/c_api.h and lib/libtvm_ffi.so in /demanded");
  install(world, "/demanded", "1", "3");
  CHECK(world.ask(k_any).why == "TVM_FFI_HOME: tvm-ffi 0.1.3 in /demanded is not >=0.1.15");
  install(world, "/demanded", "1", "16");
  CHECK(world.ask(k_any).why == "0.1.16 in /demanded");
  world.environment["TVM_FFI_HOME"] = "";
  CHECK(world.ask(k_any).version == "0.1.15");
}

TEST_CASE("Python is asked for tvm-ffi last, and once") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  install(world, "/srv/pyenv/tvm_ffi", "1", "15");
  world.files.add_file("/srv/pyenv/tvm_ffi/__init__.py", "");
  world.processes.on({"python3", "tvm_ffi"}, "/srv/pyenv/tvm_ffi\n/srv/pyenv/tvm_ffi/__init__.py\n");
  CHECK(world.ask(k_any).why == "0.1.15 in /srv/pyenv/tvm_ffi");
  CHECK(world.ask(k_any).ok);
  CHECK(world.processes.starts() == 1);
}
