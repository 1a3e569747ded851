// The order of keys, of entries whose order means nothing, and of files never changes what is read.
#include <algorithm>
#include <random>

#include "spec_world.h"
#include "support/sample.h"

namespace dsbuild {
namespace {

class Shuffler {
 public:
  std::string joined(std::vector<std::string> parts, const std::string& separator) {
    std::shuffle(parts.begin(), parts.end(), random_);
    return join(parts, separator);
  }

 private:
  std::mt19937 random_{sample_seed()};
};

std::string shuffled_spec(Shuffler& shuffle) {
  const std::string combinations = "for: {" +
                                   shuffle.joined({"D: [" + shuffle.joined({"32", "64"}, ", ") + "]",
                                                   "T: [" + shuffle.joined({"half", "float"}, ", ") + "]"},
                                                  ", ") +
                                   "}";
  const std::string sources = shuffle.joined(
      {"b.cpp", "{" + shuffle.joined({"path: a.cu", combinations, "archs: {min: 8.0}"}, ", ") + "}",
       "{" + shuffle.joined({"glob: bwd/*.cu", "when: {cuda: \">=11\"}"}, ", ") + "}"},
      ", ");
  const std::string archs = shuffle.joined(
      {"min: 7.0", "max: 12.1", "only: [" + shuffle.joined({"9.0a", "8.0", "10.0f"}, ", ") + "]",
       "specialise: [" + shuffle.joined({"9.0a", "10.0f"}, ", ") + "]"},
      ", ");
  return shuffle.joined(
      {"name: x\n", "module: a.b\n", "description: words\n", "archs: {" + archs + "}\n",
       "sources: [" + sources + "]\n", "needs: [" + shuffle.joined({"u", "v", "w"}, ", ") + "]\n",
       "exports: [" + shuffle.joined({"f", "g", "{value: h, when: {cpu: x86_64}}"}, ", ") + "]\n",
       "defines: {" + shuffle.joined({"A: 1", "B: 2", "C: {value: 3, when: {any_arch: 9.0a}}"}, ", ") + "}\n",
       "std: {" + shuffle.joined({"cxx: 20", "nvcc: 17"}, ", ") + "}\n",
       "flags: {" + shuffle.joined({"cxx: [-O3, -g]", "nvcc: [-lineinfo]", "link: []"}, ", ") + "}\n",
       "libraries: [cublasLt, curand]\n", "include_dirs: [include, bwd]\n"},
      "");
}

TEST_CASE("the order of keys and entries in a file never changes the spec") {
  Shuffler shuffle;
  const SpecWorld world;
  const OpSpec first = world.spec(shuffled_spec(shuffle));
  CHECK(first.sources.size() == 7);
  for (int round = 0; round < 200; ++round) {
    const std::string text = shuffled_spec(shuffle);
    INFO(text);
    REQUIRE(world.spec(text) == first);
  }
}

TEST_CASE("the order of folders never changes the registry's ops") {
  Shuffler shuffle;
  const std::vector<std::string> ops = {"a", "b", "c", "d", "e"};
  for (int round = 0; round < 20; ++round) {
    FakeFileSystem files;
    const std::vector<std::string> folders = split(shuffle.joined({"1", "2", "3", "4", "5"}, " "), " ");
    for (size_t i = 0; i < ops.size(); ++i) {
      files.add_file(Path("/p") / folders[i] / "op.yaml", "name: " + ops[i] + "\nsources: [k.cu]\n");
    }
    files.add_file("/p/k.cu", "");
    Settings settings;
    settings.pack = {"/p", "--pack"};
    const auto registry = load_registry_of(settings, files);
    REQUIRE(registry);
    CHECK(registry->names() == ops);
  }
}

TEST_CASE("flags, libraries and include folders keep the order of the file, for it has a meaning") {
  const SpecWorld world;
  const std::string head = "name: x\nsources: [a.cu]\n";
  CHECK_FALSE(world.spec(head + "libraries: [a, b]\n") == world.spec(head + "libraries: [b, a]\n"));
  CHECK_FALSE(world.spec(head + "flags: {cxx: [-O3, -O2]}\n") ==
              world.spec(head + "flags: {cxx: [-O2, -O3]}\n"));
}

}  // namespace
}  // namespace dsbuild
