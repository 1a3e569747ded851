#include <catch2/catch.hpp>

#include "binary/elf.h"
#include "binary/image.h"
#include "support/sample_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

Result<BinaryFile> read_file(const std::string& bytes) {
  return read_binary(as_bytes_of(bytes), "some/file");
}

std::string code_of(const std::string& bytes) {
  const auto binary = read_file(bytes);
  return binary ? "" : binary.error().code;
}

std::string targets(const BinaryFile& binary) {
  std::string text;
  for (const DeviceImage& image : binary.images)
    text += (text.empty() ? "" : " ") + image.target.name();
  return text;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Device code lies in .nv_fatbin and, relocatable, in __nv_relfatbin") {
  const auto binary = read_file(elf({{"__nv_relfatbin", 1, container({entry(k_elf, 70)})},
                                     {".text", 1, container({entry(k_elf, 75)})},
                                     {".nv_fatbin", 1, container({entry(k_elf, 80), entry(k_ptx, 80)})}}));
  REQUIRE(binary);
  CHECK(targets(*binary) == "sm_70 sm_80 compute_80");
  REQUIRE(binary->containers.size() == 2);
  CHECK(binary->containers[0].is_relocatable);
  CHECK_FALSE(binary->containers[1].is_relocatable);
  const std::vector<ArchSet> modules = modules_of(*binary);
  CHECK(modules[0].empty());
  CHECK(target_names(modules[1]) == "sm_80 compute_80");
}

TEST_CASE("A file without device code has no images") {
  const auto binary = read_file(elf({{".text", 1, "code"}}));
  REQUIRE(binary);
  CHECK(binary->images.empty());
  CHECK(binary->containers.empty());
}

TEST_CASE("A section that takes no bytes in the file has none") {
  CHECK(targets(*read_file(elf({{".nv_fatbin", 8, container({entry(k_elf, 80)})}}))).empty());
}

TEST_CASE("A relocation has its symbol's name, or that of the section that its symbol stands for") {
  const std::string file = object_with_relocations();
  const auto parsed = read_elf(as_bytes_of(file), "x.o");
  REQUIRE(parsed);
  const auto found = elf_relocations(*parsed, *parsed->find(".rela.text"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].offset == 17);
  CHECK(found[0].type == 4);
  CHECK(found[0].addend == ~uint64_t{3});
  CHECK(found[0].symbol == "first");
  CHECK(found[1].offset == 40);
  CHECK(found[1].type == 1);
  CHECK(found[1].addend == 8);
  CHECK(found[1].symbol == ".text");
  CHECK(elf_relocations(*parsed, *parsed->find(".text")).empty());
}

TEST_CASE("A library exports what others can link: global, weak or unique, defined, of default visibility") {
  const std::vector<Symbol> symbols = {{.name = "zebra"},
                                       {.name = "weak", .binding = 2},
                                       {.name = "unique", .binding = 10},
                                       {.name = "local", .binding = 0},
                                       {.name = "undefined", .section = 0},
                                       {.name = "hidden", .visibility = 2},
                                       {.name = "internal", .visibility = 1},
                                       {.name = "protected", .visibility = 3},
                                       {.name = "file.cpp", .type = 4},
                                       {.name = "zebra"}};
  const auto binary = read_file(elf(symbol_sections(symbols, 1, true)));
  REQUIRE(binary);
  CHECK(binary->exports == Names{"protected", "unique", "weak", "zebra"});
}

TEST_CASE("An object's exports come from its own symbol table, a library's from the dynamic one") {
  std::vector<Section> sections = symbol_sections({{.name = "dynamic"}}, 1, true);
  const auto own = symbol_sections({{.name = "own"}}, 3, false);
  sections.insert(sections.end(), own.begin(), own.end());
  CHECK(read_file(elf(sections, {.type = 3}))->exports == Names{"dynamic"});
  CHECK(read_file(elf(sections, {.type = 1}))->exports == Names{"own"});
}

TEST_CASE("The libraries that a library needs are listed in file order") {
  const std::string strings = std::string(1, '\0') + "libstdc++.so.6" + '\0' + "libc.so.6" + '\0';
  const std::string dynamic = u64(1) + u64(1) + u64(14) + u64(1) + u64(1) + u64(16) + u64(0) + u64(0);
  const auto binary = read_file(elf({{".dynamic", 6, dynamic, 2}, {".dynstr", 3, strings}}));
  REQUIRE(binary);
  CHECK(binary->needed == Names{"libstdc++.so.6", "libc.so.6"});
}

namespace {

// .gnu.version_r: a library's head (version, count, its file's name, way to its versions, way to the next
// head) and its versions (hash, flags, number, name, way to the next).
std::string wanting(uint32_t versions_at, uint32_t next) {
  return u16(1) + u16(1) + u32(1) + u32(versions_at) + u32(next);
}
std::string version(uint32_t name, uint32_t next) {
  return u32(0) + u16(0) + u16(2) + u32(name) + u32(next);
}

Names wanted_versions(const std::string& table, const std::string& strings) {
  const auto binary = read_file(elf({{".gnu.version_r", 0x6ffffffe, table, 2}, {".dynstr", 3, strings}}));
  REQUIRE(binary);
  return binary->wanted_versions;
}

}  // namespace

TEST_CASE("The versions of symbols that a library wants come from all the libraries it needs, each once") {
  const std::string strings =
      std::string(1, '\0') + "GLIBC_2.34" + '\0' + "GLIBC_2.2.5" + '\0' + "GCC_3.0" + '\0';
  const std::string table = wanting(16, 48) + version(1, 16) + version(12, 0) + wanting(16, 32) +
                            version(24, 0) + wanting(16, 0) + version(1, 0);
  CHECK(wanted_versions(table, strings) == Names{"GCC_3.0", "GLIBC_2.2.5", "GLIBC_2.34"});
  CHECK(wanted_versions("", strings).empty());
}

TEST_CASE("A table of wanted versions that is cut off, leads outside or into itself ends") {
  const std::string strings = std::string(1, '\0') + "GLIBC_2.34" + '\0';
  CHECK(wanted_versions(wanting(16, 0) + version(1, 0).substr(0, 15), strings).empty());
  CHECK(wanted_versions(wanting(0xffffffff, 0xffffffff) + version(1, 0), strings).empty());
  CHECK(wanted_versions(wanting(16, 0) + version(1, 0xfffffff0), strings) == Names{"GLIBC_2.34"});
  CHECK(wanted_versions(wanting(16, 0) + version(99, 0), strings).empty());
  std::string many;  // each head leads to the same long chain
  for (int i = 0; i < 20000; ++i)
    many += wanting(16, 16);
  CHECK(wanted_versions(many, strings).empty());
}

TEST_CASE("A cubin's ELF flags tell its architecture, by the layout of its ABI version") {
  // e_flags and ABI versions as nvcc 11.8 (sm_70), 12.6 (sm_90a) and 13.0 (sm_80, sm_100) wrote them.
  const auto cubin = [](uint32_t flags, uint8_t abi) {
    return elf({{".text.k", 1, "code"}}, {.type = 2, .machine = 190, .flags = flags, .abi_version = abi});
  };
  CHECK(targets(*read_file(cubin(0x460546, 7))) == "sm_70");
  CHECK(targets(*read_file(cubin(0x5a0d5a, 7))) == "sm_90a");
  CHECK(targets(*read_file(cubin(0x6005004, 8))) == "sm_80");
  CHECK(targets(*read_file(cubin(0x6006402, 8))) == "sm_100");
  CHECK(code_of(cubin(0, 8)) == "bad_elf");
}

TEST_CASE("The ptxas command line in a cubin's note tells the suffix that its flags leave out") {
  const std::string note = "ptxas" + zeros(3) + "-O3 -arch sm_100f -m 64 " + zeros(4);
  const std::string cubin =
      elf({{".note.nv.tkinfo", 7, note}}, {.type = 2, .machine = 190, .flags = 0x6006402, .abi_version = 8});
  const auto binary = read_file(cubin);
  REQUIRE(binary);
  CHECK(targets(*binary) == "sm_100f");
  CHECK(binary->images.front().bytes == cubin.size());
}

TEST_CASE("A bare fatbin is read") {
  CHECK(targets(*read_file(container({entry(k_elf, 80), entry(k_ptx, 90, 0x100011)}))) ==
        "sm_80 compute_90a");
}

TEST_CASE("PTX text names its virtual architecture") {
  CHECK(targets(*read_file("//\n// Generated\n\n.version 9.0\n.target sm_100f\n.address_size 64\n")) ==
        "compute_100f");
  CHECK(targets(*read_file(".version 7.8\n.target sm_80, debug\n")) == "compute_80");
  CHECK(code_of(".version 7.8\n.target banana\n") == "bad_elf");
}

TEST_CASE("An archive gives the images of its objects in order and passes over tables and text") {
  const std::string object = elf({{".nv_fatbin", 1, container({entry(k_elf, 70)})}}, {.type = 1});
  const std::string other = elf({{".nv_fatbin", 1, container({entry(k_elf, 80)})}}, {.type = 1});
  const std::string archive = "!<arch>\n" + archive_member("/", "table") +
                              archive_member("//", "long names/\n") + archive_member("a.o/", object) +
                              archive_member("readme/", "text") + archive_member("/0", other);
  const auto binary = read_file(archive);
  REQUIRE(binary);
  CHECK(targets(*binary) == "sm_70 sm_80");
  CHECK(binary->containers.size() == 2);
}

TEST_CASE("A damaged archive and a thin one are errors") {
  CHECK(code_of("!<thin>\n") == "bad_archive");
  CHECK(code_of("!<arch>\nshort") == "bad_archive");
  CHECK(code_of("!<arch>\n" + archive_member("a.o/", "12345678").substr(0, 64)) == "bad_archive");
  std::string negative = "!<arch>\n" + archive_member("a.o/", "12345678");
  CHECK(code_of(negative.replace(8 + 48, 2, "-1")) == "bad_archive");
  CHECK(code_of("!<arch>\n").empty());
}

TEST_CASE("Foreign and damaged files are errors that name the file") {
  const std::string good = elf({{".nv_fatbin", 1, container({entry(k_elf, 80)})}});
  const auto with = [&](size_t offset, const std::string& bytes) {
    return std::string(good).replace(offset, bytes.size(), bytes);
  };
  const std::vector<std::string> damaged = {
      "",
      "hello",
      "\x7f"
      "ELF",
      good.substr(0, 63),
      with(4, "\x01"),             // 32 bits
      with(5, "\x02"),             // big-endian
      with(40, u64(~0ULL)),        // section headers outside
      with(40, u64(good.size())),  //
      with(58, u16(40)),           // section headers of another size
      with(60, u16(0xffff)),       // more sections than fit
      with(62, u16(0xfffe)),       // names in a section that is not there
      good.substr(0, good.size() - 1),
  };
  for (size_t i = 0; i < damaged.size(); ++i) {
    INFO("case " << i);
    CHECK(code_of(damaged[i]) == "bad_elf");
  }
  CHECK(read_file("hello").error().where == "some/file");
}

TEST_CASE("A section count that does not fit the header stands in section 0") {
  std::string file = elf({{".nv_fatbin", 1, container({entry(k_elf, 80)})}});
  const size_t table = file.size() - 3 * 64;
  file.replace(60, 2, u16(0)).replace(62, 2, u16(0xffff));
  file.replace(table + 32, 8, u64(3)).replace(table + 40, 4, u32(2));
  CHECK(targets(*read_file(file)) == "sm_80");
}

TEST_CASE("Sections that share bytes cannot make the reader report more images than the file holds") {
  std::string file = elf({{".nv_fatbin", 1, container({entry(k_elf, 80)})},
                          {"__nv_relfatbin", 1, container({entry(k_elf, 80)})}});
  const size_t table = file.size() - 4 * 64;
  const std::string whole = u64(64) + u64(file.size() - 64);
  file.replace(table + 64 + 24, 16, whole).replace(table + 128 + 24, 16, whole);
  CHECK_FALSE(code_of(file).empty());
}
