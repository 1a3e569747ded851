#include "binary/offload_bundle.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "binary/kernels.h"
#include "support/files_of_all_kinds.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

Result<DeviceCode> read_bytes(const std::string& bytes) {
  return read_device_code(MemoryBytes(as_bytes_of(bytes)), "lib/x.so");
}

// "gfx90a gfx1100 | gfx90a": by module.
std::string modules(const std::string& bytes) {
  const auto code = read_bytes(bytes);
  if (!code) return code.error().what;
  std::string text;
  for (const DeviceContainer& container : code->containers) {
    text += text.empty() ? "" : " |";
    for (const DeviceImage& image : container.images)
      text += (text.empty() ? "" : " ") + image.target.name();
  }
  return text;
}

std::string fault(const std::string& bytes) {
  const auto code = read_bytes(bytes);
  return code ? "" : code.error().code + ": " + code.error().what;
}

std::string with(std::string bytes, size_t offset, const std::string& other) {
  return bytes.replace(offset, other.size(), other);
}

std::string flipped(std::string bytes, size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  return bytes;
}

const std::string k_both = "gfx1100 gfx90a";

}  // namespace

TEST_CASE("A bundle has an image for each entry but the host's, by the flags of its code object") {
  CHECK(modules(small_bundle()) == k_both);
  CHECK(modules(bundle({{hip_id("gfx90a:xnack+"), code_object(k_gfx90a_xnack)}})) == "gfx90a:xnack+");
  CHECK(modules(bundle({{hip_id("gfx9-4-generic"), code_object(k_gfx9_4_generic, "code", 4)}})) ==
        "gfx9-4-generic");
  CHECK(modules(bundle({{"hip-amdgcn-amd-amdhsa-gfx90a", code_object(k_gfx90a)}})) == "gfx90a");
  CHECK(modules(bundle({{"host-x86_64-unknown-linux", "host code"}})).empty());
  CHECK(modules(bundle({{hip_id("gfx90a"), ""}})).empty());
  CHECK(modules(bundle({{hip_id("gfx90a"), "BC\xc0\xde for a device link"}})).empty());
}

TEST_CASE("A code object by itself is an image") {
  CHECK(modules(code_object(k_gfx1100)) == "gfx1100");
  CHECK(read_bytes(code_object(k_gfx1100))->images.front().bytes == code_object(k_gfx1100).size());
}

TEST_CASE("A library has a module for each bundle, and they stand at multiples of 4096") {
  const std::string one = small_bundle();
  CHECK(modules(hip_library({one})) == k_both);
  CHECK(modules(hip_library({one, one})) == k_both + " | " + k_both);
  // Pages of zeros, as another alignment leaves them.
  CHECK(modules(padded(one, 4096) + zeros(8192) + one + zeros(100)) == k_both + " | " + k_both);
  CHECK(fault(padded(one, 4096) + zeros(8) + one) ==
        "bad_fatbin: its device code is damaged: no bundle starts where one should");
  CHECK(fault(one + "rest") ==
        "bad_fatbin: its device code is damaged: there is something between its bundles");
}

TEST_CASE("Compressed bundles of all versions are read, of both methods") {
  const std::string plain = small_bundle();
  for (const unsigned version : {1u, 2u, 3u}) {
    for (const unsigned method : {0u, 1u}) {
      INFO("version " << version << " method " << method);
      const std::string packed = packed_bundle(plain, version, method);
      CHECK(modules(packed) == k_both);
      CHECK(modules(hip_library({packed, plain, packed})) == k_both + " | " + k_both + " | " + k_both);
      const auto code = read_bytes(packed);
      REQUIRE(code);
      CHECK(code->images[0].compressed);
      CHECK(code->images[0].bytes + code->images[1].bytes == packed.size());
    }
  }
}

TEST_CASE("What begins like a bundle in the code of one is code") {
  // clang cut such a bundle in two: https://github.com/llvm/llvm-project/issues/206745
  const std::string inner = padded(zeros(3000), 4096) + small_bundle() + packed_bundle(small_bundle());
  const std::string outer = bundle({{hip_id("gfx90a"), code_object(k_gfx90a, inner)}}, 4096);
  CHECK(modules(hip_library({outer, outer})) == "gfx90a | gfx90a");
  CHECK(modules(packed_bundle(outer, 2)) == "gfx90a");
}

TEST_CASE("An entry that is not for what its image is for is an error with both names") {
  CHECK(fault(bundle({{hip_id("gfx90a"), code_object(k_gfx1100)}})) ==
        "bad_fatbin: its device code is damaged: the entry hipv4-amdgcn-amd-amdhsa--gfx90a holds code for "
        "gfx1100");
  CHECK(fault(bundle({{hip_id("gfx90a:xnack-"), code_object(k_gfx90a_xnack)}})) ==
        "bad_fatbin: its device code is damaged: the entry hipv4-amdgcn-amd-amdhsa--gfx90a:xnack- holds code "
        "for "
        "gfx90a:xnack+");
}

TEST_CASE("Kinds that are not known are errors that name them") {
  const auto names = [](const std::string& bytes, const std::string& what) {
    INFO(what);
    CHECK(fault(bytes) == "bad_fatbin: its device code has " + what + ", which dsbuild does not know");
  };
  names(bundle({{"openmp-nvptx64-nvidia-cuda--sm_70", "x"}}), "an entry openmp-nvptx64-nvidia-cuda--sm_70");
  names(bundle({{"hip-spirv64-amd-amdhsa--amdgcnspirv", "x"}}),
        "an entry hip-spirv64-amd-amdhsa--amdgcnspirv");
  names(packed_bundle(small_bundle(), 4), "a compressed bundle of version 4");
  names(with(packed_bundle(small_bundle()), 6, u16(2)), "a bundle compressed by method 2");
  names(code_object(k_gfx90a, "code", 1), "a code object of version 3");
  names(code_object(k_gfx90a, "code", 5), "a code object of version 7");
  names(code_object(0x1ff), "code for AMD's e_flags 0x1ff");
  names(elf({{".llvm.offloading", 1, "x"}}), "a section .llvm.offloading");
}

TEST_CASE("A damaged bundle is an error") {
  const std::string good = small_bundle();
  const auto is_damaged = [](const std::string& bytes, const std::string& what) {
    INFO(what);
    CHECK(fault(bytes) == "bad_fatbin: its device code is damaged: " + what);
  };
  const size_t second = 32 + 24 + 30;  // the header of the second entry
  is_damaged(with(good, 24, u64(1025)), "a bundle says that it has more entries than fit");
  is_damaged(with(good, 24, u64(900)), "a bundle's entry has an impossible name");
  is_damaged(good.substr(0, 40), "a bundle is cut off in its entries");
  is_damaged(good.substr(0, second + 40), "a bundle is cut off in its entries");
  is_damaged(with(good, 48, u64(~0ULL)), "a bundle's entry has an impossible name");
  is_damaged(with(good, second, u64(0)), "the entries of a bundle overlap");
  is_damaged(with(good, second + 8, u64(~0ULL)),
             "the entry hipv4-amdgcn-amd-amdhsa--gfx1100 is larger than what holds it");
  is_damaged(good.substr(0, good.size() - 1),
             "the entry hipv4-amdgcn-amd-amdhsa--gfx90a is larger than what holds it");
  is_damaged(bundle({{hip_id("gfx90a"), elf({})}}),
             "the entry hipv4-amdgcn-amd-amdhsa--gfx90a is for machine 62");
  CHECK(fault(bundle({{hip_id("gfx90a"), "text"}})) == "bad_elf: is not an ELF file");
  CHECK(read_bytes(bundle({{hip_id("gfx90a"), "text"}})).error().where ==
        "lib/x.so: hipv4-amdgcn-amd-amdhsa--gfx90a");

  const std::string packed = packed_bundle(small_bundle());
  is_damaged(packed.substr(0, 31), "a compressed bundle is cut off");
  is_damaged(packed.substr(0, packed.size() - 1), "a compressed bundle is cut off");
  is_damaged(with(packed, 8, u64(31)), "a compressed bundle has an impossible size");
  is_damaged(with(packed, 16, u64(small_bundle().size() + 1)), "an image cannot be decompressed");
  is_damaged(with(packed, 16, u64(1ULL << 40)), "an image says that it has 1.0 TiB unpacked");
  is_damaged(with(packed, 24, u64(0)), "a compressed bundle is not what its checksum says");
  is_damaged(packed_bundle("no bundle, only words"), "no bundle starts where one should");
  is_damaged(packed_bundle(small_bundle(), 1).substr(0, 60), "a compressed bundle is cut off");
}

TEST_CASE("No flipped bit of a compressed bundle goes unnoticed") {
  for (const std::string& packed : packed_bundles(small_bundle())) {
    for (size_t bit = 0; bit < packed.size() * 8; ++bit) {
      INFO("version " << int{packed[4]} << " method " << int{packed[6]} << " bit " << bit);
      const std::string found = modules(flipped(packed, bit));
      if (found == k_both) continue;  // the stream has bits that do not matter
      CHECK_FALSE(read_bytes(flipped(packed, bit)));
    }
  }
}

TEST_CASE("No flipped bit of a name or of the flags makes code for one GPU into that for another") {
  const std::string one = bundle({{hip_id("gfx90a:xnack+"), code_object(k_gfx90a_xnack)}});
  const size_t name = one.find("hipv4"), flags = one.find(
                                                     "\x7f"
                                                     "ELF") +
                                                 48;
  for (const auto& [begin, size] :
       {std::pair{name, hip_id("gfx90a:xnack+").size()}, std::pair{flags, size_t{4}}})
    for (size_t bit = begin * 8; bit < (begin + size) * 8; ++bit) {
      INFO("bit " << bit);
      const std::string found = modules(flipped(one, bit));
      CHECK((found == "gfx90a:xnack+" || !read_bytes(flipped(one, bit))));
    }
}

TEST_CASE("A damaged size of a compressed bundle takes no memory") {
  const auto peak = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;  // KiB
  };
  const std::string packed = packed_bundle(small_bundle(), 1, 0);
  const long before = peak();
  CHECK(fault(with(packed, 8, u32(0x7fffffff))) ==
        "bad_fatbin: its device code is damaged: a compressed bundle is cut off");
  CHECK(peak() - before < 500'000);
}

TEST_CASE("A library hands the runtime as many bundles as it has") {
  const std::string one = small_bundle();
  CHECK(fault(hip_library({one, one}, 1)) ==
        "bad_fatbin: its device code is damaged: it has 2 bundles of HIP, and hands the runtime 1");
  CHECK(fault(hip_library({one}, 0)) ==
        "bad_fatbin: its device code is damaged: it has 1 bundle of HIP, and hands the runtime 0");
  CHECK(fault(hip_library({one}, 2)) ==
        "bad_fatbin: its device code is damaged: it has 1 bundle of HIP, and hands the runtime 2");
  // Two translation units with one bundle, as a device link leaves them.
  const std::string wrapper = "FPIH" + u32(1) + u64(0x1000) + u64(0);
  const auto linked = [&](const std::string& segment) {
    return elf({{".hip_fatbin", 1, one}, {".hipFatBinSegment", 1, segment}});
  };
  CHECK(modules(linked(wrapper + wrapper)) == k_both);
  CHECK(fault(linked(wrapper + "FPIH")) ==
        "bad_fatbin: its device code is damaged: its .hipFatBinSegment is not what clang writes");
  CHECK_FALSE(fault(linked(with(wrapper, 0, "HIPF"))).empty());
  // An object of host code alone, whose bundle comes from elsewhere; and code that was taken out.
  CHECK(modules(elf({{".hipFatBinSegment", 1, wrapper}}, {.type = 1})).empty());
  CHECK(modules(elf({{".hip_fatbin", 8, one}, {".hipFatBinSegment", 1, wrapper}})).empty());
}

TEST_CASE("Addresses of bundles may stand in relocations alone") {
  const std::string segment = "FPIH" + u32(1) + u64(0) + u64(0);
  const auto library = [&](const std::string& relocations) {
    return elf({{".hip_fatbin", 1, small_bundle()},
                {".hipFatBinSegment", 1, segment + segment},
                {".rela.dyn", 4, relocations, 4},
                {".dynsym", 11, zeros(24) + u32(0) + u32(0) + u64(0x1000) + u64(0)}});
  };
  const auto relative = [](uint64_t place, uint64_t address) { return u64(place) + u64(8) + u64(address); };
  const auto by_symbol = [](uint64_t place) { return u64(place) + u64(uint64_t{1} << 32 | 1) + u64(0); };
  CHECK(modules(library(relative(8, 0x1000) + relative(32, 0x1000))) == k_both);
  CHECK(modules(library(relative(8, 0x1000) + by_symbol(32))) == k_both);
  CHECK(fault(library(relative(8, 0x1000) + relative(32, 0x3000))).ends_with("and hands the runtime 2"));
  CHECK(fault(library("")).ends_with("and hands the runtime 0"));
}

TEST_CASE("Kernels are what descriptors name, with the size of their code") {
  // Two kernels, and a function that is none; the descriptor: 512 bytes shared, 16 of each thread's own.
  const std::string descriptor = u32(512) + u32(16) + zeros(56);
  std::vector<Section> sections = {{".rodata", 1, descriptor + zeros(64)}, {".text", 1, zeros(100)}};
  std::string table = zeros(24), strings(1, '\0');
  const auto symbol = [&](const std::string& name, int section, uint64_t value, uint64_t size) {
    table += u32(strings.size()) + '\x12' + '\0' + u16(section) + u64(value) + u64(size);
    strings += name + '\0';
  };
  symbol("first", 2, 0, 48);
  symbol("first.kd", 1, 0, 64);
  symbol("helper", 2, 48, 20);
  symbol("second", 2, 68, 32);
  symbol("second.kd", 1, 64, 64);
  symbol("elsewhere.kd", 0, 0, 0);
  sections.push_back({".symtab", 2, table, 4});
  sections.push_back({".strtab", 3, strings});
  const std::string object = elf(sections, {.type = 3, .machine = 224, .flags = k_gfx1100, .abi_version = 4});
  for (const std::string& file : {object, packed_bundle(bundle({{hip_id("gfx1100"), object}}))}) {
    const auto kernels = read_kernels(MemoryBytes(as_bytes_of(file)), "x");
    REQUIRE(kernels);
    REQUIRE(kernels->size() == 1);
    REQUIRE(kernels->front().kernels.size() == 2);
    const Kernel& first = kernels->front().kernels[0];
    CHECK(first.name == "first");
    CHECK(first.is_entry);
    CHECK(first.bytes == 48);
    CHECK(first.resources.shared == 512);
    CHECK(first.resources.stack == 16);
    CHECK(kernels->front().kernels[1].name == "second");
    CHECK(kernels->front().kernels[1].bytes == 32);
  }
}

TEST_CASE("A bundle is written with each code at a multiple of 4096 and nothing behind the last") {
  const std::string written = write_offload_bundle(
      {{"host-x86_64-unknown-linux-gnu-", ""}, {hip_id("gfx1100"), "12345"}, {hip_id("gfx90a"), "678"}});
  std::string expected = "__CLANG_OFFLOAD_BUNDLE__" + u64(3) + u64(4096) + u64(0) + u64(30) +
                         "host-x86_64-unknown-linux-gnu-" + u64(4096) + u64(5) + u64(32) + hip_id("gfx1100") +
                         u64(8192) + u64(3) + u64(31) + hip_id("gfx90a");
  expected = padded(padded(expected, 4096) + "12345", 4096) + "678";
  CHECK(written == expected);
  // The digests of what clang-offload-bundler 16, 19 and 22 write of these.
  CHECK(sha256(written) == "51ccf94519ccbdaa4d4940521cb49a2e1ed84f91d3643d15a2a549fb82e84114");
  const std::string with_empty = write_offload_bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                                                       {hip_id("gfx1100"), "12345"},
                                                       {hip_id("gfx90a"), ""},
                                                       {hip_id("gfx942"), "678"}});
  CHECK(sha256(with_empty) == "07a3091355defe7e996f970c8f83243736e8796a685294d008ac7ba94dc96c1a");
  CHECK(modules(write_offload_bundle({{hip_id("gfx90a"), code_object(k_gfx90a)}})) == "gfx90a");
}

TEST_CASE("Names of entries have what the bundler of a clang makes of a word") {
  CHECK(bundle_entry_id("host-x86_64-unknown-linux", 16) == "host-x86_64-unknown-linux");
  CHECK(bundle_entry_id("host-x86_64-unknown-linux", 19) == "host-x86_64-unknown-linux--");
  CHECK(bundle_entry_id("host-x86_64-unknown-linux-gnu", 22) == "host-x86_64-unknown-linux-gnu-");
  CHECK(bundle_entry_id(hip_id("gfx9-4-generic"), 22) == hip_id("gfx9-4-generic"));
}
