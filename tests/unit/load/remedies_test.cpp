#include "load/remedies.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("A library that small images lack is named with what installs it") {
  CHECK(remedy_of("libgomp.so.1: cannot open shared object file: No such file or directory") ==
        "apt-get install libgomp1");
  CHECK(
      remedy_of("ImportError: libtorch_cuda.so: cannot open shared object file: No such file or directory") ==
      "pip install torch, of the version that the op was built for");
  CHECK(remedy_of("/x/a.so: libc10.so: cannot open shared object file: No such file") ==
        "pip install torch, of the version that the op was built for");
}

// Which libsycl.so those versions of PyPI's intel-sycl-rt have: their files.
TEST_CASE("SYCL's runtime is that of the oneAPI that the library was built with") {
  const auto [library, year] = GENERATE(table<std::string, std::string>(
      {{"libsycl.so.7", "2024"}, {"libsycl.so.8", "2025"}, {"libsycl.so.9", "2026"}}));
  CHECK(remedy_of("OSError: " + library + ": cannot open shared object file: No such file or directory") ==
        "source setvars.sh of oneAPI " + year + ", or pip install 'intel-sycl-rt==" + year +
            ".*' and name its lib folder in LD_LIBRARY_PATH");
}

TEST_CASE("Another one is named by itself") {
  CHECK(remedy_of("libgone.so.3: cannot open shared object file: No such file or directory") ==
        "Install the package that has libgone.so.3, or name its folder in LD_LIBRARY_PATH.");
}

TEST_CASE("What is too old here, or missing in Python, is named") {
  CHECK(remedy_of("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by a.so)") ==
        "Build it on a system that is as old as this one: GLIBC_2.38 is newer.");
  CHECK(remedy_of("ModuleNotFoundError: No module named 'tvm_ffi'") ==
        "pip install apache-tvm-ffi, or name the Python that has it: --python.");
  CHECK(remedy_of("undefined symbol: _ZN3c104cuda") ==
        "Build it again, against the libraries that it is loaded with (--python).");
}

TEST_CASE("Of the libraries that an op needs, those are told that have a remedy") {
  const std::map<std::string, std::string> remedies = remedies_of({"libc.so.6", "libgomp.so.1", "libm.so.6"});
  CHECK(remedies == std::map<std::string, std::string>{{"libgomp.so.1", "apt-get install libgomp1"}});
}
