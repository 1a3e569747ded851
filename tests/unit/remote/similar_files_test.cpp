#include "remote/similar_files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace dsbuild {
namespace {

std::string random_bytes(unsigned seed, size_t bytes) {
  std::mt19937 generator(seed);
  std::string text(bytes, '\0');
  for (char& byte : text)
    byte = static_cast<char>(generator());
  return text;
}

}  // namespace

TEST_CASE("features do not depend on where in a file its content lies") {
  const std::string text = random_bytes(1, 100'000);
  const Features features = features_of(text),
                 moved = features_of(random_bytes(2, 777) + text + random_bytes(3, 50));
  CHECK(features.size() > 250);
  CHECK(features.size() < 550);  // one for 256 bytes, by chance
  Features common;
  std::ranges::set_intersection(features, moved, std::back_inserter(common));
  CHECK(common.size() + 2 >= features.size());  // but for windows over the edges
  CHECK(features_of("").empty());
}

TEST_CASE("the most similar file is found first, and files without anything in common are not") {
  const std::string text = random_bytes(1, 60'000);
  SimilarFiles files;
  files.add("other", features_of(random_bytes(9, 60'000)));
  files.add("half", features_of(text.substr(0, 30'000)));
  files.add("most", features_of(text.substr(2'000)));
  CHECK(files.find(features_of(text), 4).front() == "most");
  CHECK(files.find(features_of(random_bytes(7, 60'000)), 4).empty());
  CHECK(files.find({}, 4).empty());
}

TEST_CASE("a file that consists of others has all of them, each once") {
  SimilarFiles files;
  std::string library;
  for (unsigned i = 0; i < 6; ++i) {
    const std::string image = random_bytes(i, 40'000);
    files.add("image" + std::to_string(i), features_of(image));
    files.add("again" + std::to_string(i), features_of(image));
    library += image;
  }
  auto found = files.find(features_of(library), 16);
  CHECK(found.size() == 6);
  CHECK(files.find(features_of(library), 2).size() == 2);
  for (std::string& name : found)
    name.erase(0, 5);
  std::ranges::sort(found);
  CHECK(found == std::vector<std::string>{"0", "1", "2", "3", "4", "5"});
}

}  // namespace dsbuild
