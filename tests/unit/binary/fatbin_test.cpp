// Golden values: the bytes of docs/internals/fatbin.md, seen in files of nvcc 11.8, 12.6, 12.9, 13.0, 13.3
// and 13.5.
#include <catch2/catch.hpp>

#include "binary/fatbin.h"
#include "support/sample_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

std::vector<std::string> all_names_in(const std::string& section) {
  const auto containers = read_fatbins(MemoryBytes(as_bytes_of(section)), "x.o");
  if (!containers) return {containers.error().code + ": " + containers.error().what};
  std::vector<std::string> names;
  for (const DeviceContainer& one : *containers) {
    for (const DeviceImage& image : one.images)
      names.push_back(image.target.name());
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("A section without bytes or with padding alone holds no container") {
  CHECK(all_names_in("").empty());
  CHECK(all_names_in(zeros(64)).empty());
}

TEST_CASE("An entry's kind and number give its target") {
  CHECK(all_names_in(container({entry(k_elf, 70), entry(k_elf, 80), entry(k_ptx, 80)})) ==
        Names{"sm_70", "sm_80", "compute_80"});
  CHECK(all_names_in(container({entry(k_elf, 120), entry(k_ptx, 103)})) == Names{"sm_120", "compute_103"});
}

TEST_CASE("Bit 20 of the flags is the suffix a and bit 21 the suffix f, for real code and PTX") {
  CHECK(all_names_in(
            container({entry(k_elf, 90, 0x100011), entry(k_ptx, 90, 0x108011), entry(k_elf, 100, 0x1200011),
                       entry(k_ptx, 100, 0x208011), entry(k_elf, 100, 0x1000011)})) ==
        Names{"sm_90a", "compute_90a", "sm_100f", "compute_100f", "sm_100"});
}

TEST_CASE("Flags tell whether a payload is compressed: LZ4 before CUDA 13, zstd since") {
  const std::string section =
      container({entry(k_elf, 70, 0x11), entry(k_elf, 75, 0x2011), entry(k_elf, 80, 0x8011)});
  const auto containers = read_fatbins(MemoryBytes(as_bytes_of(section)), "x.o");
  REQUIRE(containers);
  REQUIRE(containers->size() == 1);
  const std::vector<DeviceImage>& images = containers->front().images;
  CHECK_FALSE(images[0].compressed);
  CHECK(images[1].compressed);
  CHECK(images[2].compressed);
}

TEST_CASE("An image's size is what is stored of it") {
  const std::string section = container({entry(k_elf, 70, k_plain, std::string(4136, 'x'))});
  CHECK(read_fatbins(MemoryBytes(as_bytes_of(section)), "x.o")->front().images.front().bytes == 4136);
}

TEST_CASE("Entry headers of any size above 64 are passed by their own size field") {
  for (const size_t size : {64u, 72u, 80u, 96u, 112u, 4096u}) {
    CHECK(all_names_in(container({entry(k_elf, 80, k_plain, "12345678", size), entry(k_ptx, 90)})) ==
          Names{"sm_80", "compute_90"});
  }
}

TEST_CASE("Containers stay apart and keep the order of the link") {
  const std::string section =
      padded(container({entry(k_elf, 80, k_plain, "123")}), 8) + zeros(16) + container({entry(k_elf, 70)});
  const auto containers = read_fatbins(MemoryBytes(as_bytes_of(section)), "x.o");
  REQUIRE(containers);
  REQUIRE(containers->size() == 2);
  CHECK((*containers)[0].images[0].target.name() == "sm_80");
  CHECK((*containers)[1].images[0].target.name() == "sm_70");
}

TEST_CASE("NVVM code for the link is passed over") {
  CHECK(all_names_in(container({entry(8, 80), entry(k_elf, 90), entry(8, 0)})) == Names{"sm_90"});
}

TEST_CASE("Tile IR is told apart from machine code and PTX") {
  const std::string section = container({entry(k_tile_ir, 100, 0x108011), entry(k_elf, 90)});
  CHECK(all_names_in(section) == Names{"sm_90"});
  const auto containers = read_fatbins(MemoryBytes(as_bytes_of(section)), "x.o");
  REQUIRE(containers);
  REQUIRE(containers->front().tile_images.size() == 1);
  const DeviceImage& tile = containers->front().tile_images.front();
  CHECK(tile.target.name() == "sm_100a");
  CHECK(tile.bytes == 8);
  CHECK(tile.compressed);
  CHECK_THAT(all_names_in(container({entry(k_tile_ir, 0)})).at(0), Catch::StartsWith("bad_fatbin"));
}

TEST_CASE("An entry of any other kind is an error that names the kind and the file") {
  for (const uint16_t kind : std::vector<uint16_t>{0, 3, 4, 16, 32, 64, 77, 129, 257, 512, 65535}) {
    const auto result =
        read_fatbins(MemoryBytes(as_bytes_of(container({entry(k_elf, 80), entry(kind, 80)}))), "lib/x.so");
    INFO(kind);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "bad_fatbin");
    CHECK(result.error().where == "lib/x.so");
    CHECK(result.error().what ==
          "its device code has an entry of kind " + std::to_string(kind) + ", which dsbuild does not know");
    CHECK_FALSE(result.error().fix.empty());
  }
}

TEST_CASE("Only architectures that dsbuild can name are read: two or three digits") {
  CHECK(all_names_in(container({entry(k_elf, 10), entry(k_elf, 999)})) == Names{"sm_10", "sm_999"});
  for (const uint32_t number : {0u, 9u, 1000u, 0xffffffffu}) {
    CHECK_THAT(all_names_in(container({entry(k_elf, number)})).at(0), Catch::StartsWith("bad_fatbin"));
  }
}

TEST_CASE("Damage is an error that names the file and never a crash") {
  const std::string good = container({entry(k_elf, 80)});
  const auto with = [&](size_t offset, const std::string& bytes) {
    return std::string(good).replace(offset, bytes.size(), bytes);
  };
  const std::vector<std::string> damaged = {
      with(0, "X"),                      // container magic
      with(6, u16(0)),                   // container header of no size
      with(6, u16(0xffff)),              // and of more than there is
      with(8, u64(~uint64_t{0})),        // entries past the end of the address space
      with(8, u64(80)),                  // past the end of the section
      with(8, u64(40)),                  // an entry cut off
      with(20, u32(0)),                  // an entry header of no size: it would never advance
      with(20, u32(0xffffffff)),         // and of more than there is
      with(24, u64(~uint64_t{0} - 63)),  // offset + size overflows
      with(24, u64(9)),                  // a payload one byte too long
      with(44, u32(0)),                  // no architecture
      with(44, u32(0xffffffff)),         //
      good + "garbage!",                 // something else between containers
  };
  for (size_t i = 0; i < damaged.size(); ++i) {
    INFO("case " << i);
    const auto result = read_fatbins(MemoryBytes(as_bytes_of(damaged[i])), "lib/x.so");
    REQUIRE_FALSE(result);
    CHECK(result.error().code == "bad_fatbin");
    CHECK(result.error().where == "lib/x.so");
    CHECK(result.error().exit == Exit::failed);
  }
}
