// Golden: the tags of PEP 600 as auditwheel 6.8.2 gives them (tests/packaging/manylinux_test.py asks it).
#include "package/platform.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

std::string tag_of(const std::map<std::string, std::string>& versions) {
  return platform_of({{{"libc.so.6"}, versions}}, "x86_64").tag;
}

}  // namespace

TEST_CASE("A library's tag is that of the lowest glibc that it wants, from 2.17 on") {
  CHECK(tag_of({}) == "manylinux_2_17_x86_64");
  CHECK(tag_of({{"GLIBC", "2.2.5"}}) == "manylinux_2_17_x86_64");
  CHECK(tag_of({{"GLIBC", "2.17"}}) == "manylinux_2_17_x86_64");
  CHECK(tag_of({{"GLIBC", "2.33"}}) == "manylinux_2_33_x86_64");
  CHECK(tag_of({{"GLIBC", "2.41"}}) == "manylinux_2_41_x86_64");
}

TEST_CASE("What it wants of libstdc++ and libgcc asks for a glibc of their time") {
  CHECK(tag_of({{"GLIBC", "2.17"}, {"GLIBCXX", "3.4.19"}, {"CXXABI", "1.3.7"}}) == "manylinux_2_17_x86_64");
  CHECK(tag_of({{"GLIBC", "2.17"}, {"GLIBCXX", "3.4.21"}}) == "manylinux_2_24_x86_64");
  CHECK(tag_of({{"GLIBC", "2.14"}, {"GLIBCXX", "3.4.29"}}) == "manylinux_2_34_x86_64");
  CHECK(tag_of({{"CXXABI", "1.3.9"}}) == "manylinux_2_24_x86_64");
  CHECK(tag_of({{"GCC", "7.0.0"}}) == "manylinux_2_27_x86_64");
  CHECK(tag_of({{"GLIBC", "2.36"}, {"GLIBCXX", "3.4.29"}}) == "manylinux_2_36_x86_64");
}

TEST_CASE(
    "No manylinux is named for a libstdc++ that is newer than all that are known, or for another C library") {
  CHECK(tag_of({{"GLIBC", "2.34"}, {"GLIBCXX", "3.4.99"}}) == "linux_x86_64");
  CHECK(platform_of({{{"libc.musl-x86_64.so.1"}, {}}}, "x86_64").tag == "linux_x86_64");
}

TEST_CASE(
    "All libraries of a wheel count, and those that manylinux does not promise are named once, sorted") {
  const Platform platform =
      platform_of({{{"libtorch.so", "libc.so.6", "libstdc++.so.6"}, {{"GLIBC", "2.28"}}},
                   {{"libgomp.so.1", "libtorch.so", "libm.so.6", "ld-linux-aarch64.so.1"},
                    {{"GLIBC", "2.4"}, {"GOMP", "4.0"}}}},
                  "aarch64");
  CHECK(platform.tag == "manylinux_2_28_aarch64");
  CHECK(platform.outside == std::vector<std::string>{"libgomp.so.1", "libtorch.so"});
}
