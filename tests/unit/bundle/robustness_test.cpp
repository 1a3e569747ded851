// Damaged files: no crash, no endless loop, whatever the bytes (under the sanitizers of the test preset).
#include <catch2/catch.hpp>
#include <random>

#include "binary/elf.h"
#include "binary/image.h"
#include "binary/kernels.h"
#include "bundle/manifest.h"
#include "bundle/verify.h"
#include "support/files_of_all_kinds.h"
#include "support/sample.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

// The bytes in memory of exactly their size, so that reading past them is seen.
void read(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  const auto elf = read_elf(as_bytes_of({exact.data(), exact.size()}), "x");
  if (elf)
    for (const ElfSection& section : elf->sections)
      CHECK(elf_relocations(*elf, section).size() * 24 <= bytes.size());
  const auto binary = read_binary(as_bytes_of({exact.data(), exact.size()}), "x");
  (void)read_kernels(MemoryBytes(as_bytes_of({exact.data(), exact.size()})), "x");
  if (binary) {
    CHECK(binary->images.size() * 32 <= bytes.size() + 64);
  } else {
    CHECK_FALSE(binary.error().what.empty());
  }
}

}  // namespace

TEST_CASE("A file cut off at any length is read or refused") {
  for (const std::string& sample : files_of_all_kinds()) {
    for (size_t length = 0; length <= sample.size(); ++length)
      read(sample.substr(0, length));
  }
}

TEST_CASE("A file with any one bit flipped is read or refused", "[sweep]") {
  const size_t step = is_deep_tier() ? 1 : 5;
  for (const std::string& sample : files_of_all_kinds()) {
    for (size_t bit = sample_seed() % step; bit < sample.size() * 8; bit += step) {
      std::string damaged = sample;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      read(damaged);
    }
  }
}

TEST_CASE("A file with an extreme number at any place is read or refused", "[sweep]") {
  for (const std::string& sample : files_of_all_kinds()) {
    const std::vector<uint64_t> extremes = {0,
                                            1,
                                            ~uint64_t{0},
                                            1ULL << 31,
                                            (1ULL << 32) - 1,
                                            1ULL << 63,
                                            sample.size(),
                                            sample.size() - 1,
                                            sample.size() + 1};
    for (const uint64_t extreme : some_of(extremes, 3)) {
      for (const size_t width : {2u, 4u, 8u}) {
        for (size_t at = 0; at + width <= sample.size(); at += 2) {
          read(std::string(sample).replace(at, width, u64(extreme).substr(0, width)));
        }
      }
    }
  }
}

TEST_CASE("Files of damaged pieces are read or refused") {
  std::mt19937 engine(sample_seed());
  const auto below = [&](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(engine);
  };
  const std::vector<std::string> samples = files_of_all_kinds();
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = samples[below(samples.size())];
    for (size_t change = below(8); change > 0; --change) {
      const std::string piece = u64(below(1ULL << below(63))).substr(0, size_t{1} << below(4));
      if (bytes.size() > piece.size()) bytes.replace(below(bytes.size() - piece.size()), piece.size(), piece);
    }
    read(bytes);
  }
}

TEST_CASE("A manifest cut off at any length or with any byte changed is read or refused") {
  Manifest manifest;
  manifest.dsbuild = "0.1.0";
  manifest.ops.push_back({});
  manifest.ops.back().file = "a.so";
  manifest.ops.back().images = {{*parse_target_name("sm_80"), 1}};
  manifest.ops.back().sources = {{"a.cu", "00", {*parse_target_name("sm_80")}}};
  const std::string json = render_manifest(manifest);
  for (size_t at = 0; at < json.size(); ++at) {
    for (const char replacement : {'\0', '"', '{', ']', '9', '-', '\x80'}) {
      std::string damaged = json;
      damaged[at] = replacement;
      const auto parsed = parse_manifest(damaged, "m");
      if (!parsed) CHECK(parsed.error().code == "bad_manifest");
    }
    const bool whole = at + 1 == json.size();  // only the final newline is gone
    CHECK(parse_manifest(json.substr(0, at), "m").has_value() == whole);
  }
}
