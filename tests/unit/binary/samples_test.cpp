// The reader on real fatbins (tests/unit/binary/data). Golden: what cuobjdump 13.5 says of them.
#include <numeric>

#include "binary/fatbin.h"
#include "cuobjdump_words.h"
#include "support/test_data.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

const std::vector<std::string> k_samples = {"plain", "concat", "concat_of_one", "concat_speed", "tile"};

std::string bytes_of_sample(const std::string& name) {
  return test_data("unit/binary/data/" + name + ".fatbin");
}

BinaryFile read_sample(const std::string& name) {
  const std::string bytes = bytes_of_sample(name);
  const auto binary = read_binary(as_bytes_of(bytes), name);
  REQUIRE(binary);
  return *binary;
}

}  // namespace

TEST_CASE("The reader says of each sample what cuobjdump says: kind, arch, suffix, compression, order") {
  for (const std::string& name : k_samples) {
    INFO(name);
    const CodeList golden = said_by_cuobjdump(test_data("unit/binary/data/" + name + ".cuobjdump.txt"));
    REQUIRE_FALSE(golden.empty());
    CHECK(found_by_reader(read_sample(name)) == golden);
  }
}

TEST_CASE("The same images with and without --concat have the same targets, and the file's size is theirs") {
  const auto count = [](const BinaryFile& binary) {
    std::vector<std::string> names;
    for (const DeviceImage& image : binary.images)
      names.push_back(image.target.name());
    return in_canonical_order(names);
  };
  const BinaryFile plain = read_sample("plain"), concat = read_sample("concat");
  CHECK(count(plain) == count(concat));
  const auto stored = [](const BinaryFile& binary) {
    return std::accumulate(binary.images.begin(), binary.images.end(), uint64_t{0},
                           [](uint64_t sum, const DeviceImage& image) { return sum + image.bytes; });
  };
  // Without the container's header of 16 bytes and the entries' headers: 64, 72 and more.
  CHECK(stored(plain) == bytes_of_sample("plain").size() - 16 - 3 * 64 - 2 * 120 - 80);
  CHECK(stored(concat) == bytes_of_sample("concat").size() - 16 - 80 - (72 + 3 * 64) - (72 + 2 * 120));
}

TEST_CASE("A real fatbin cut off at any length, or with any bit of its headers flipped, is read or refused") {
  for (const std::string& name : k_samples) {
    const std::string bytes = bytes_of_sample(name);
    const auto is_read_or_refused = [](const std::string& damaged) {
      const auto binary = read_binary(as_bytes_of(damaged), "x");
      return binary ? binary->images.size() * 64 <= damaged.size() : !binary.error().what.empty();
    };
    for (size_t length = 0; length < bytes.size(); ++length)
      CHECK(is_read_or_refused(bytes.substr(0, length)));
    for (size_t bit = 0; bit < 8 * std::min(bytes.size(), size_t{2500}); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      CHECK(is_read_or_refused(damaged));
    }
  }
}
