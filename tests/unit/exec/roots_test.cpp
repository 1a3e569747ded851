#include "exec/roots.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

Roots roots() {
  Roots all;
  all.add("cuda", "/home/me/py/site-packages/nvidia/cu13");
  all.add("packages", "/home/me/py/site-packages");
  return all;
}

}  // namespace

TEST_CASE("roots: paths in words of commands get the names of the build folder") {
  const std::string home = "/home/me/py/site-packages";
  CHECK(roots().named(home + "/nvidia/cu13/bin/nvcc") == "roots/cuda/bin/nvcc");
  CHECK(roots().named("-I" + home + "/torch/include") == "-Iroots/packages/torch/include");
  CHECK(roots().named("-isystem" + home) == "-isystemroots/packages");
  CHECK(roots().named("--dependency-file=" + home + "/a.d") == "--dependency-file=roots/packages/a.d");
  CHECK(roots().named(home + "/nvidia/cu13/bin:" + home + "/x:/usr/bin") ==
        "roots/cuda/bin:roots/packages/x:/usr/bin");
}

TEST_CASE("roots: a folder counts as it is spelled, links and all") {
  CHECK(roots().named("/home/me/py/site-packages/nvidia/cu13/bin/../include") == "roots/cuda/bin/../include");
  CHECK(roots().named("/home/me/py/../py/site-packages/a") == "/home/me/py/../py/site-packages/a");
}

TEST_CASE("roots: a folder with several spellings has one name, and one link") {
  Roots all = roots();
  const std::string home = "/home/me/py/site-packages/nvidia/cu13";
  all.add("headers", {home + "/bin/..//include", home + "/bin/../include", home + "/include"});
  for (const char* spelling : {"/bin/..//include", "/bin/../include", "/include"}) {
    CHECK(all.named("-I" + home + spelling + "/cccl") == "-Iroots/headers/cccl");
    CHECK(all.named(home + spelling) == "roots/headers");
  }
  CHECK(all.named(home + "/bin/../includes/a") == "roots/cuda/bin/../includes/a");
  CHECK(all.links().size() == 3);
  CHECK(all.real("roots/headers/a.h") == home + "/bin/..//include/a.h");
}

TEST_CASE("roots: what only looks like a root stays") {
  const std::string home = "/home/me/py/site-packages";
  for (const std::string& word : {home + "-other/a", "x" + home, "-DHOME=" + home, "-Wl,-rpath," + home,
                                  std::string("pack/a.cu"), "-Xcompiler=-I" + home})
    CHECK(roots().named(word) == word);
}

TEST_CASE("roots: the system's own folders are none") {
  Roots all;
  for (const char* folder : {"/usr", "/usr/local", "/usr/lib/nvidia-cuda-toolkit", "/", "relative/cuda",
                             "/usr/include/python3.11", "/opt"})
    all.add("cuda", folder);
  CHECK(all.links().empty());
  all.add("cuda", "/usr/local/cuda-13.0");
  all.add("torch", "/usr/lib/python3/dist-packages/torch");
  all.add("cuda", "/elsewhere");
  using Links = std::vector<std::pair<std::string, Path>>;
  CHECK(all.links() == Links{{"roots/cuda", "/usr/local/cuda-13.0"},
                             {"roots/torch", "/usr/lib/python3/dist-packages/torch"}});
}

TEST_CASE("roots: lists of parts name files by their roots") {
  CHECK(roots().named_lines("aa /home/me/py/site-packages/b c\nabsent /usr/bin/as\n") ==
        "absent /usr/bin/as\naa roots/packages/b c\n");
  CHECK(roots().named_lines("") == "");
}

TEST_CASE("roots: names lead back to this machine") {
  CHECK(roots().real("roots/cuda/bin/nvcc") == "/home/me/py/site-packages/nvidia/cu13/bin/nvcc");
  CHECK(roots().real("pack/a") == "pack/a");
  CHECK(with_absolute_roots("roots/cuda/bin:dsbuild_path", "/b") == "/b/roots/cuda/bin:dsbuild_path");
  CHECK(with_absolute_roots("-Iroots/cuda/include", "/b") == "-I/b/roots/cuda/include");
  CHECK(with_absolute_roots("my/roots/cuda", "/b") == "my/roots/cuda");
}
