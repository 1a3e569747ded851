#include "nvcc/path_map.h"

#include <catch2/catch.hpp>

namespace dsbuild {

TEST_CASE("source place: names of a checkout are those of a build folder, and back") {
  const PathMap place{"/home/me/project/build", "/home/me/project", "../csrc/a.cu"};
  CHECK(place.own_name("../csrc/a.cu") == "pack/build/../csrc/a.cu");
  CHECK(place.own_name("gen/x.h") == "pack/build/gen/x.h");
  CHECK(place.own_name("/home/me/project/csrc/a.h") == "pack/csrc/a.h");
  CHECK(place.own_name("/home/me/project") == "pack");
  CHECK(place.own_name("/home/me/project2/a.h") == "/home/me/project2/a.h");
  CHECK(place.own_name("/usr/include/stdio.h") == "/usr/include/stdio.h");
  CHECK(place.given_name("pack/build/../csrc/a.cu") == "../csrc/a.cu");
  CHECK(place.given_name("pack/csrc/a.h") == "/home/me/project/csrc/a.h");
  CHECK(place.given_name("/usr/include/stdio.h") == "/usr/include/stdio.h");
}

TEST_CASE("source place: include folders and the source of a command") {
  const PathMap place{"/p/q", "/p/q", "a.cu"};
  CHECK(place.own_words({"gcc", "-Iinc", "-I", "sys", "-isystem", "/p/q/x", "-I/usr/include", "-DX=a.cu",
                         "a.cu"}) == std::vector<std::string>{"gcc", "-Ipack/inc", "-I", "pack/sys",
                                                              "-isystem", "pack/x", "-I/usr/include",
                                                              "-DX=a.cu", "pack/a.cu"});
}

TEST_CASE("source place: markers have own names, and code has those that it was given") {
  const PathMap place{"/p/q", "/p/q", "a.cu"};
  CHECK(place.with_own_names("# 1 \"a.cu\"\nconst char* s = \"a.cu\";\n# 1 \"/usr/x.h\" 1 3\n") ==
        "# 1 \"pack/a.cu\"\nconst char* s = \"a.cu\";\n# 1 \"/usr/x.h\" 1 3\n");
  const std::string reads = "# 1 \"a.cu\"\nconst char* s = __builtin_FILE();\n";
  CHECK(place.with_own_names(reads) == reads);
}

TEST_CASE("source place: code of a temporary root has own names of the text's files, and of nothing else") {
  const PathMap place{"/tmp/x/q", "/tmp/x/q", "/tmp/x/q/a.cu", true};
  CHECK(place.with_own_names(
            "# 1 \"/tmp/x/q/a.cu\"\nf(\"/tmp/x/q/a.cu\", \"/tmp/x/q/data\", \"/tmp/x/q/a.cu\");\n"
            "g(\"see /tmp/x/q/a.cu\", __builtin_FILE());\n") ==
        "# 1 \"pack/a.cu\"\nf(\"pack/a.cu\", \"/tmp/x/q/data\", \"pack/a.cu\");\n"
        "g(\"see /tmp/x/q/a.cu\", __builtin_FILE());\n");
}

TEST_CASE("source place: names in PTX") {
  // As nvcc 12 and 13 write a string of device code, and as older ones did.
  CHECK(has_own_names(".global .align 1 .b8 $str[10] = {112, 97, 99, 107, 47, 97, 46, 99, 117, 0};"));
  CHECK(has_own_names(".b8 s[10] = {112,97,99,107,47,97,46,99,117,0};"));
  CHECK_FALSE(has_own_names(".b8 s[9] = {112, 97, 99, 107, 97, 46, 99, 117, 0};"));
}

TEST_CASE("source place: what tools say names files as they were given") {
  const PathMap place{"/p/q", "/p/q", "a.cu"};
  CHECK(place.with_given_names("pack/a.cu(3): warning: unpack/it \"pack/inc/b.h\"") ==
        "a.cu(3): warning: unpack/it \"inc/b.h\"");
  CHECK(place.with_given_names("/p/q/a.cu(3): warning") == "a.cu(3): warning");
  const PathMap absolute{"/p/q", "/p/q", "/p/q/a.cu"};
  CHECK(absolute.with_given_names("pack/a.cu(3): warning") == "/p/q/a.cu(3): warning");
}

TEST_CASE("source place: the root is what the source and the folder have in common") {
  CHECK(root_of("/home/me/p/csrc/a.cu", "/home/me/p/build") == "/home/me/p");
  CHECK(root_of("/home/me/p/a.cu", "/home/me/p") == "/home/me/p");
  CHECK(root_of("/tmp/p/a.cu", "/home/me") == "/tmp/p");
  CHECK(root_of("/tmp/p/a.cu", "/tmp/build") == "/tmp/p");
}

}  // namespace dsbuild
