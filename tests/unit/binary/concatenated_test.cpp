// Entries whose images are compressed together (nvcc --concat). Golden values: the layout of
// docs/internals/fatbin.md.
#include <catch2/catch.hpp>
#include <numeric>

#include "binary/fatbin.h"
#include "support/sample_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

using Names = std::vector<std::string>;
using Sizes = std::vector<uint64_t>;

// Memory of exactly the section's size, so that reading past it is seen under the sanitizers.
Result<std::vector<DeviceContainer>> read(const std::string& section) {
  const std::vector<char> exact(section.begin(), section.end());
  return read_fatbins(MemoryBytes(as_bytes_of({exact.data(), exact.size()})), "lib/x.so");
}

std::vector<DeviceImage> images_in(const std::string& section) {
  const auto containers = read(section);
  INFO((containers ? "" : containers.error().what));
  REQUIRE(containers);
  REQUIRE(containers->size() == 1);
  return containers->front().images;
}

Names names_in(const std::string& section) {
  Names names;
  for (const DeviceImage& image : images_in(section))
    names.push_back(image.target.name());
  return names;
}

Sizes sizes_in(const std::string& section) {
  Sizes sizes;
  for (const DeviceImage& image : images_in(section))
    sizes.push_back(image.bytes);
  return sizes;
}

std::string what_is_wrong(const std::string& section) {
  const auto result = read(section);
  if (result) return "";
  CHECK(result.error().code == "bad_fatbin");
  CHECK(result.error().where == "lib/x.so");
  return result.error().what;
}

const ImageRecord k_two[] = {{.arch = 80, .size = 300}, {.arch = 90, .flags = 0x100011, .size = 100}};
const std::vector<ImageRecord> k_tables = {{.arch = 100, .flags = 0x1100011, .size = 496, .has_table = true},
                                           {.arch = 103, .flags = 0x1200011, .size = 496, .has_table = true},
                                           {.arch = 120, .flags = 0x1000011, .size = 496, .has_table = true}};

// Of each form: without tables and with, beside ordinary entries.
std::string section_of_all_forms() {
  return container({entry(k_ptx, 80, 0x8011), concatenated({k_two[0], k_two[1]}, zeros(80)),
                    concatenated(k_tables, zeros(64)), entry(k_elf, 121)});
}

// The sample's damage: what is read of it is no more than it holds, what is refused says why.
void check_is_read_or_refused(const std::string& damaged) {
  const auto containers = read(damaged);
  if (!containers) {
    CHECK(containers.error().code == "bad_fatbin");
    CHECK_FALSE(containers.error().what.empty());
    return;
  }
  uint64_t count = 0, bytes = 0;
  for (const DeviceContainer& container : *containers) {
    for (const DeviceImage& image : container.images)
      bytes += image.bytes;
    count += container.images.size() + container.tile_images.size();
  }
  CHECK(count * 64 <= damaged.size());
  CHECK(bytes <= damaged.size());
}

}  // namespace

TEST_CASE("Each record of a concatenated entry is an image: two, three and five of them") {
  CHECK(names_in(container({concatenated({k_two[0], k_two[1]}, zeros(80))})) == Names{"sm_80", "sm_90a"});
  CHECK(names_in(container({concatenated(
            {{.arch = 80, .size = 1}, {.arch = 86, .size = 1}, {.arch = 89, .size = 1}}, zeros(8))})) ==
        Names{"sm_80", "sm_86", "sm_89"});
  const std::vector<ImageRecord> five = {{.arch = 75, .size = 1},
                                         {.arch = 80, .size = 1},
                                         {.arch = 86, .size = 1},
                                         {.arch = 89, .size = 1},
                                         {.arch = 90, .flags = 0x100011, .size = 1}};
  CHECK(names_in(container({concatenated(five, zeros(8))})) ==
        Names{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"});
}

TEST_CASE("Records with a table of capabilities are 120 bytes long, and a record's flags give the suffix") {
  CHECK(record(k_tables[0], 0).size() == 120);
  CHECK(names_in(container({concatenated(k_tables, zeros(8))})) == Names{"sm_100a", "sm_103f", "sm_120"});
}

TEST_CASE("Records with and without a table may follow each other, and PTX is concatenated too") {
  const std::vector<ImageRecord> mixed = {
      k_tables[0], k_two[0], {.kind = k_ptx, .arch = 90, .size = 8, .has_table = true}, k_two[1]};
  CHECK(names_in(container({concatenated(mixed, zeros(8))})) ==
        Names{"sm_100a", "sm_80", "compute_90", "sm_90a"});
}

TEST_CASE("A record's name and options are passed, by what it says of them") {
  // As fatbinary 13.5 writes them: a name behind the 64 bytes, the options behind it, each with a zero byte.
  std::string named = record({.arch = 80, .size = 8}, 0);
  named.replace(32, 8, u32(64) + u32(12));
  named += padded("twelve_bytes" + zeros(1), 8);
  std::string both = record({.kind = k_ptx, .arch = 90, .size = 8}, 8);
  both.replace(20, 4, u32(80)).replace(32, 8, u32(64) + u32(12));
  both += padded("twelve_bytes" + zeros(1), 8) + padded(u32(88) + u32(13) + "-O3 -lineinfo" + zeros(1), 8);
  CHECK(named.size() == 80);
  CHECK(both.size() == 104);
  std::string section = concatenated({{}, {}}, zeros(8));
  const std::string records = named + both;
  section.replace(4, 4, u32(72 + records.size())).replace(56, 8, u64(16));
  section.replace(64, section.size() - 64 - 8, u32(2) + u32(8 + records.size()) + records);
  CHECK(names_in(container({section})) == Names{"sm_80", "compute_90"});
}

TEST_CASE("Images of a concatenated entry stand among the others in file order") {
  CHECK(names_in(section_of_all_forms()) ==
        Names{"compute_80", "sm_80", "sm_90a", "sm_100a", "sm_103f", "sm_120", "sm_121"});
}

TEST_CASE("An image's size is its share of what the entry stores, and no byte is lost") {
  CHECK(sizes_in(container({concatenated({k_two[0], k_two[1]}, zeros(80))})) == Sizes{60, 20});
  const Sizes uneven = sizes_in(container({concatenated(k_tables, zeros(800))}));
  CHECK(uneven == Sizes{266, 267, 267});
  CHECK(std::accumulate(uneven.begin(), uneven.end(), uint64_t{0}) == 800);
  CHECK(sizes_in(container({concatenated({{.size = 0}, {.size = 0}}, zeros(8))})) == Sizes{0, 0});
}

TEST_CASE("The entry's flags tell whether its images are compressed, not the records'") {
  for (const uint64_t flags : {0x8011, 0x2011}) {
    for (const DeviceImage& image :
         images_in(container({concatenated({k_two[0], k_two[1]}, zeros(8), flags)})))
      CHECK(image.compressed);
  }
  const auto plain = images_in(container({concatenated({k_two[0], k_two[1]}, zeros(400), k_plain)}));
  CHECK_FALSE(plain.at(0).compressed);
}

TEST_CASE("In a concatenated entry NVVM code is passed over, Tile IR told apart and no other kind accepted") {
  const auto with = [](uint16_t kind) {
    return container(
        {concatenated({{.arch = 80, .size = 1}, {.kind = kind, .arch = 90, .size = 1}}, zeros(8))});
  };
  CHECK(names_in(with(8)) == Names{"sm_80"});
  CHECK(names_in(with(k_tile_ir)) == Names{"sm_80"});
  CHECK(read(with(k_tile_ir))->front().tile_images.at(0).target.name() == "sm_90");
  for (const uint16_t kind : std::vector<uint16_t>{77, 0x100})
    CHECK_THAT(what_is_wrong(with(kind)), Catch::Contains("an entry of kind " + std::to_string(kind) + ","));
}

TEST_CASE("What is stored of two concatenated entries is the same where the entries are") {
  const auto stored = [](const std::string& section) {
    std::vector<std::string> contents;
    const MemoryBytes source(as_bytes_of(section));
    const auto containers = read_stored_containers(source, "x.o");
    REQUIRE(containers);
    for (const StoredImage& each : containers->at(0)) {
      contents.push_back(*each.content.read_all());
      CHECK(each.unpacked_size == 400);
    }
    return contents;
  };
  const std::string one = container({concatenated({k_two[0], k_two[1]}, "12345678")});
  const std::string other = container({concatenated({k_two[0], k_two[1]}, "12345679")});
  CHECK(stored(one).size() == 2);
  CHECK(stored(one) == stored(std::string(one)));
  CHECK(stored(one)[0] != stored(other)[0]);
  CHECK(stored(one)[1] != stored(other)[1]);
}

TEST_CASE("Damage to a concatenated entry is an error that says what") {
  const std::string good = container({concatenated({k_two[0], k_two[1]}, zeros(80))});
  const size_t at = 16, table = at + 64, first = table + 8, second = first + 64;
  const auto with = [&](size_t offset, const std::string& bytes) {
    return what_is_wrong(std::string(good).replace(offset, bytes.size(), bytes));
  };
  const std::string no_table = "its device code is damaged: a concatenated entry has no table of its images";
  const std::string bad_table =
      "its device code is damaged: a concatenated entry's table of images has an impossible size";
  const std::string cut = "its device code is damaged: a record of a concatenated entry is cut off";
  const std::string larger =
      "its device code is damaged: an image of a concatenated entry is larger than the entry";
  const std::string overlap = "its device code is damaged: the images of a concatenated entry overlap";
  const uint64_t most = 0xffffffff;
  CHECK(with(at, u16(0x100)).empty());
  for (const uint64_t offset : {uint64_t{0}, uint64_t{63}, uint64_t{193}, uint64_t{200}, most})
    CHECK(with(at + 20, u32(offset)) == no_table);
  for (const uint64_t size : {uint64_t{0}, uint64_t{7}, uint64_t{137}, most})
    CHECK(with(table + 4, u32(size)) == bad_table);
  CHECK(with(table, u32(0)) == bad_table);
  for (const uint64_t count : {uint64_t{3}, most})
    CHECK(with(table, u32(count)) == cut);
  CHECK(with(table, u32(1)) ==
        "its device code is damaged: a concatenated entry's table is larger than its records");
  for (const uint64_t options : {uint64_t{1}, uint64_t{63}, uint64_t{121}, uint64_t{128}, most})
    CHECK(with(first + 20, u32(options)) == cut);
  CHECK(with(second + 36, u32(1)) == cut);
  CHECK(with(first + 32, u32(most) + u32(most)) == cut);
  CHECK(with(second + 4, u32(299)) == overlap);
  CHECK(with(first + 8, u32(301)) == overlap);
  CHECK(with(second + 8, u32(101)) == larger);
  CHECK(with(second + 4, u32(most) + u32(most)) == larger);
  CHECK(with(at + 56, u64(399)) == larger);
  CHECK(with(at + 56, u64(~uint64_t{0})).empty());
  for (const uint64_t arch : {uint64_t{0}, uint64_t{9}, uint64_t{1000}, most})
    CHECK(with(second + 28, u32(arch)) ==
          "its device code is damaged: an entry is for the unknown architecture " + std::to_string(arch));
}

TEST_CASE("Concatenated entries cut off at any length are refused") {
  const std::string good = section_of_all_forms();
  for (size_t length = 1; length < good.size(); ++length) {
    INFO(length);
    if (length >= 8) CHECK_FALSE(what_is_wrong(good.substr(0, length)).empty());
    check_is_read_or_refused(good.substr(0, length));
  }
}

TEST_CASE("Concatenated entries whose container ends anywhere are refused or hold whole entries alone") {
  const std::string good = section_of_all_forms();
  for (size_t length = 16; length < good.size(); ++length)
    check_is_read_or_refused(good.substr(0, length).replace(8, 8, u64(length - 16)));
}

TEST_CASE("Concatenated entries with any bit flipped, or extreme numbers anywhere, are read or refused") {
  const std::string good = section_of_all_forms();
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string damaged = good;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    check_is_read_or_refused(damaged);
  }
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{0x7fffffff}, uint64_t{0x80000000},
                                uint64_t{0xffffffff}, ~uint64_t{0} / 2, ~uint64_t{0} - 63, ~uint64_t{0}}) {
    for (size_t offset = 0; offset + 8 <= good.size(); offset += 2) {
      check_is_read_or_refused(std::string(good).replace(offset, 4, u32(number)));
      check_is_read_or_refused(std::string(good).replace(offset, 8, u64(number)));
    }
  }
}
