#include "bundle/describe.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("The lowest version that will do is the highest that a library wants, number by number") {
  BinaryFile library;
  library.needed = {"libstdc++.so.6", "libc.so.6"};
  library.wanted_versions = {
      "CXXABI_1.3", "CXXABI_1.3.11", "CXXABI_1.3.9", "GLIBCXX_3.4", "GLIBC_2.2.5",     "GLIBC_2.34",
      "GLIBC_2.4",  "GLIBC_PRIVATE", "CXXABI_TM_1x", "_2",          "libcudart.so.13", "OPENSSL_1_1_0"};
  const ManifestRuntime runtime = runtime_of(library);
  CHECK(runtime.libraries == library.needed);
  CHECK(runtime.versions ==
        std::map<std::string, std::string>{{"CXXABI", "1.3.11"}, {"GLIBC", "2.34"}, {"GLIBCXX", "3.4"}});
}

TEST_CASE("Packed relocations want the glibc that reads them first") {
  BinaryFile library;
  library.wanted_versions = {"GLIBC_2.17", "GLIBC_ABI_DT_RELR"};
  CHECK(runtime_of(library).versions == std::map<std::string, std::string>{{"GLIBC", "2.36"}});
}
