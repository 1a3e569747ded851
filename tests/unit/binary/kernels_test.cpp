// Kernels of real fatbins (tests/unit/binary/data). Golden: what cuobjdump 13.5 says of their resources.
#include <catch2/catch.hpp>

#include "base/text.h"
#include "binary/kernels.h"
#include "binary/lz4.h"
#include "resource_words.h"
#include "support/sample_bytes.h"
#include "support/test_data.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

std::string sample_bytes(const std::string& name) {
  return test_data("unit/binary/data/" + name + ".fatbin");
}

Result<std::vector<ImageKernels>> kernels_in(const std::string& bytes) {
  return read_kernels(MemoryBytes(as_bytes_of(bytes)), "x.fatbin");
}

std::string cubin_with(const std::vector<Section>& sections) {
  return elf(sections, {.type = 2, .machine = 190, .flags = 0x6005004, .abi_version = 8});
}

std::optional<std::string> lz4(const std::string& packed, size_t size) {
  return unpack_lz4(packed, size);
}

}  // namespace

TEST_CASE("Registers, stack, shared memory and constants of each kernel are what cuobjdump says") {
  for (const std::string name : {"plain", "concat", "concat_of_one", "concat_speed", "tile"}) {
    INFO(name);
    const auto found = kernels_in(sample_bytes(name));
    REQUIRE(found);
    const auto golden = said_of_resources(test_data("unit/binary/data/" + name + ".resources.txt"));
    REQUIRE_FALSE(golden.empty());
    CHECK(found_of_resources(*found) == golden);
  }
}

TEST_CASE("Kernels of an archive's members and of a library are told by module") {
  const std::string sample = sample_bytes("concat_of_one");
  const auto library_kernels = kernels_in(library({sample, sample}));
  REQUIRE(library_kernels);
  REQUIRE(library_kernels->size() == 2);
  CHECK(library_kernels->at(0).module == 0);
  CHECK(library_kernels->at(1).module == 1);
  CHECK(library_kernels->at(1).kernels == kernels_in(sample)->at(0).kernels);
  CHECK(library_kernels->at(1).kernels.at(0).is_entry);
  const std::string archive =
      "!<arch>\n" + archive_member("a.o", library({sample})) + archive_member("b.o", library({sample}));
  CHECK(kernels_in(archive)->size() == 2);
}

TEST_CASE("A compressed image that is damaged is an error, and never read as something else") {
  for (const std::string name : {"plain", "concat_speed"}) {
    std::string bytes = sample_bytes(name);
    for (size_t i = bytes.size() - 40; i < bytes.size() - 8; ++i)
      bytes[i] = static_cast<char>(~bytes[i]);
    const auto found = kernels_in(bytes);
    if (name == "concat_speed") {
      REQUIRE_FALSE(found);
      CHECK(found.error().code == "bad_fatbin");
      CHECK_THAT(found.error().what, Catch::Contains("cannot be decompressed"));
    } else {
      CHECK(found);  // its last entry is PTX, which is not unpacked
    }
  }
}

TEST_CASE("A real cubin cut off anywhere, or with any bit of its headers flipped, is read or refused") {
  const std::string bytes = sample_bytes("tile");  // 4 cubins, compressed together
  const auto check = [](const std::string& damaged) {
    const auto kernels = kernels_in(damaged);
    return kernels.has_value() || !kernels.error().what.empty();
  };
  for (size_t length = 0; length < bytes.size(); length += 13)
    CHECK(check(bytes.substr(0, length)));
  const std::string cubin = cubin_with({{".text.one", 1, zeros(256)},
                                        {".nv.info", 1, std::string("\x04\x2f", 2) + u16(8) + zeros(8)},
                                        {".nv.info.one", 1, std::string("\x04\x55", 2) + u16(8) + zeros(8)}});
  REQUIRE(read_cubin_kernels(as_bytes_of(cubin), "x"));
  for (size_t bit = 0; bit < 8 * cubin.size(); ++bit) {
    std::string damaged = cubin;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    const auto kernels = read_cubin_kernels(as_bytes_of(damaged), "x");
    CHECK((kernels.has_value() || !kernels.error().what.empty()));
  }
}

TEST_CASE("An image that says it is larger than any can be takes no memory") {
  std::string huge = entry(k_elf, 80, 0x8011, zeros(64));
  huge.replace(16, 4, u32(64));
  huge.replace(56, 8, u64(uint64_t{1} << 40));
  const auto found = kernels_in(container({huge}));
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().what, Catch::Contains("1.0 TiB unpacked"));
  huge.replace(40, 8, u64(0x2011));
  huge.replace(56, 8, u64(uint64_t{1} << 30));
  CHECK_THAT(kernels_in(container({huge})).error().what,
             Catch::Contains("says that it has 1.0 GiB unpacked"));
}

TEST_CASE("A cubin whose sections lie is an error") {
  const auto what = [](const std::string& cubin) {
    const auto kernels = read_cubin_kernels(as_bytes_of(cubin), "x.cubin");
    return kernels ? std::to_string(kernels->size()) + " kernels" : kernels.error().what;
  };
  CHECK(what(cubin_with({{".text.one", 1, zeros(256)}})) == "1 kernels");
  const std::string cut_attribute = std::string("\x04\x2f", 2) + u16(80) + zeros(4);
  CHECK_THAT(what(cubin_with({{".text.one", 1, zeros(256)}, {".nv.info", 1, cut_attribute}})),
             Catch::Contains("an attribute is larger than its section"));
  CHECK_THAT(what(elf({})), Catch::Contains("for another machine"));
  CHECK_THAT(what("no ELF"), Catch::Contains("not an ELF file"));
}

TEST_CASE("Shared memory that a cubin for a device link wants has no bytes in the file") {
  // As nvcc -rdc=true writes it: more than the file has, under a type of CUDA's own.
  const auto wanting = [](uint32_t type) {
    std::string cubin = cubin_with({{".text.one", 1, zeros(256)}, {".nv.shared.one", type, "12345678"}});
    const size_t rows = 4, row_of_shared = 2;
    return cubin.replace(cubin.size() - (rows - row_of_shared) * 64 + 32, 8, u64(100'000));
  };
  const auto kernels = [](const std::string& cubin) { return read_cubin_kernels(as_bytes_of(cubin), "x"); };
  const auto found = kernels(wanting(0x7000000a));
  REQUIRE(found);
  CHECK(found->at(0).resources.shared == 100'000);
  CHECK_FALSE(kernels(wanting(1)));
}

TEST_CASE("Spills of which one instruction is not known are not told") {
  const auto spills_of = [](const std::string& instruction) {
    const std::string version = std::string("\x04\x37", 2) + u16(4) + u32(0x82);
    const std::string annotation = std::string("\x04\x55", 2) + u16(8) + u32(1) + u32(16);
    const std::string cubin = cubin_with(
        {{".text.one", 1, zeros(16) + instruction}, {".nv.info.one", 0x70000000, version + annotation}});
    return read_cubin_kernels(as_bytes_of(cubin), "x")->at(0).resources;
  };
  const auto store = spills_of(u64(0x387) + u64(5 << 9)), load = spills_of(u64(0x983) + u64(6 << 9));
  CHECK(store.spill_stores == 8U);
  CHECK(store.spill_loads == 0U);
  CHECK(load.spill_loads == 16U);
  CHECK(spills_of(u64(0x388) + u64(0)).spill_stores == std::nullopt);
  CHECK(spills_of("").spill_stores == std::nullopt);
}

TEST_CASE("LZ4 blocks are unpacked as their format is described, and damaged ones refused") {
  using namespace std::string_literals;
  CHECK(lz4("\x30"s + "abc", 3) == "abc");
  // Three literals, a match of 4 + 5 bytes that goes on into itself, then the last literals.
  CHECK(lz4("\x35"s + "abc" + "\x03\x00"s + "\x10z", 13) == "abcabcabcabcz");
  CHECK(lz4("\x1f"s + "a" + "\x01\x00"s + "\xff\x02"s + "\x10z", 278) == std::string(277, 'a') + "z");
  CHECK(lz4("\xf0\x02"s + "seventeen letters", 17) == "seventeen letters");
  for (const std::string& damaged :
       {"\x40"s + "abc", "\x35"s + "abc" + "\x00\x00"s + "\x10z", "\x35"s + "abc" + "\x04\x00"s + "\x10z",
        "\x35"s + "abc" + "\x03"s, "\xf0"s, "\x3f"s + "abc" + "\x03\x00\xff"s, ""s})
    CHECK(lz4(damaged, 13) == std::nullopt);
  CHECK(lz4("\x30"s + "abc", 2) == std::nullopt);
  CHECK(lz4("\x30"s + "abc", 4) == std::nullopt);
  CHECK(lz4("\x30"s + "abc", size_t{1} << 40) == std::nullopt);
}
