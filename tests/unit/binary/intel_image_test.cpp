#include "binary/intel_image.h"

#include <catch2/catch.hpp>

#include "binary/elf.h"
#include "binary/kernels.h"
#include "support/offload_bytes.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

Result<DeviceCode> read_bytes(const std::string& bytes) {
  return read_device_code(MemoryBytes(as_bytes_of(bytes)), "lib/x.so");
}

std::string images(const std::string& bytes) {
  const auto code = read_bytes(bytes);
  if (!code) return code.error().code + ": " + code.error().what;
  std::string text;
  for (const DeviceImage& image : code->images)
    text += (text.empty() ? "" : " ") + image.target.name();
  return text;
}

std::string damage(const std::string& what) {
  return "bad_fatbin: its device code is damaged: " + what;
}
std::string unknown(const std::string& what) {
  return "bad_fatbin: its device code has " + what + ", which dsbuild does not know";
}

std::string sycl_library(const std::string& section, const std::string& name = "sycl-spir64") {
  return elf({{"__CLANG_OFFLOAD_BUNDLE__" + name, 1, section}});
}

}  // namespace

TEST_CASE("A SPIR-V module is an image, in either order of bytes") {
  CHECK(images(spirv()) == "spir64");
  CHECK(images(big_endian_words(spirv())) == "spir64");
  CHECK(read_bytes(spirv())->images.front().bytes == 40);
  CHECK(images(spirv(0)) == unknown("SPIR-V with addressing model 0"));
  CHECK(images(spirv(9)) == unknown("SPIR-V with addressing model 9"));
  CHECK(images(spirv().substr(0, 39)) == damage("SPIR-V ends in an instruction"));
  CHECK(images(spirv().substr(0, 20)) == damage("SPIR-V is cut off"));
}

TEST_CASE("What looks like a module's beginning in an instruction of another is none") {
  CHECK(images(spirv(2, 0x07230203) + spirv()) == "spir64 spir64");
  CHECK(read_bytes(spirv(2, 0x07230203) + spirv())->images.front().bytes == 40);
}

TEST_CASE("A library of SYCL has its images one behind the other, and one module") {
  const std::string padded_one = padded(spirv(), 16);
  CHECK(images(sycl_library(padded_one + padded_one + spirv())) == "spir64 spir64 spir64");
  CHECK(images(sycl_library(padded(*compress(spirv()), 16) + padded(*compress(pvc_file()), 16) + spirv())) ==
        "spir64 spir64 pvc spir64");
  CHECK(images(sycl_library(pvc_file() + padded(ocloc_archive(), 16) + spirv(), "sycl-spir64_gen")) ==
        "spir64 pvc pvc dg2-g10 spir64 spir64");
  const auto code = read_bytes(elf({{"__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", 1, pvc_file()},
                                    {"__CLANG_OFFLOAD_BUNDLE__sycl-spir64", 1, spirv()}}));
  REQUIRE(code);
  CHECK(code->containers.size() == 1);
  CHECK(images(sycl_library("BC\xc0\xde for a device link")).empty());
  CHECK(images(elf({{"__CLANG_OFFLOAD_BUNDLE__host-x86_64-unknown-linux-gnu", 1, "x"}})).empty());
}

TEST_CASE("Compressed images have shares of what they take, and unknown ones are named") {
  const std::string frame = *compress(pvc_file());
  const auto code = read_bytes(sycl_library(frame));
  REQUIRE(code);
  CHECK(code->images[0].compressed);
  CHECK(code->images[0].bytes + code->images[1].bytes == frame.size());
  CHECK(images(sycl_library(frame.substr(0, frame.size() - 1))) == damage("a compressed image is cut off"));
  CHECK(images(sycl_library(*compress(*compress(spirv())))) == damage("an image is compressed twice"));
  CHECK(images(sycl_library("text of no kind")) == unknown("an image that begins with 0x74 0x65 0x78 0x74"));
  CHECK(images(sycl_library(pvc_file() + zeros(2) + spirv())) ==
        damage("there is something between its images"));
  CHECK(images(sycl_library(elf({}))) == unknown("an image for machine 62"));
}

TEST_CASE("Files of ocloc have machine code and the SPIR-V that it was made of") {
  CHECK(images(pvc_file()) == "spir64 pvc");
  const auto binary = [](uint32_t core, uint32_t stepping) {
    return images(ocloc_file({{"b", k_ocloc_binary, device_binary(core, stepping)}}));
  };
  CHECK(binary(0xc07, 8) == "dg2-g10");
  CHECK(binary(0xc07, 5) == "dg2-g11");
  CHECK(binary(0xc07, 0) == "dg2-g12");
  CHECK(binary(0xc07, 77) == "dg2-g10");  // of steppings that none has by default the first of the core
  CHECK(binary(0x99, 0) == unknown("code for Intel's core 0x99"));
  CHECK(images(ocloc_file({{"b", k_ocloc_binary, "CTN?"}})) == damage("a device binary has no header"));
}

TEST_CASE("A zebin says in its notes for what it is") {
  CHECK(images(zebin({{1, u32(0x4f6)}, {2, u32(0)}, {3, u32(0x250500)}, {4, "1.20" + zeros(1)}})) ==
        "dg2-g11");
  CHECK(images(zebin({{1, u32(0x12)}, {3, u32(0x290900)}})) == "skl");
  CHECK(images(zebin({{1, u32(0x999)}})) == unknown("code for Intel's product 0x999"));
  CHECK(images(zebin({{6, u32(12u << 22 | 60u << 14 | 7u)}})) == "pvc");
  CHECK(images(zebin({{6, u32(99u << 22)}})) == unknown("code for Intel's 99.0.0"));
  CHECK(images(zebin({})) == damage("a device binary does not say for what it is"));
  CHECK(images(zebin({}).replace(64 + 32, 0, "")) == damage("a device binary does not say for what it is"));
}

TEST_CASE("Notes without bytes in the file are none, also where their offset lies outside") {
  constexpr size_t k_row = 64, k_of_notes = 2;  // of the section headers, which end the file
  std::string file = zebin({{1, u32(0x12)}});
  const size_t row = file.size() - (4 - k_of_notes) * k_row;
  REQUIRE(file.substr(row + 4, 4) == u32(7));  // SHT_NOTE
  file.replace(row + 4, 4, u32(8));            // SHT_NOBITS
  for (const uint64_t offset : {uint64_t{64}, uint64_t{1} << 40, ~uint64_t{0}}) {
    file.replace(row + 24, 8, u64(offset));
    CHECK(images(file) == damage("a device binary does not say for what it is"));
    CHECK(*elf_size(MemoryBytes(as_bytes_of(file)), "x") == file.size());
  }
}

TEST_CASE("SPIR-V inside of a device binary is counted once") {
  const std::string file = zebin({{1, u32(0x12)}}, {{".spv", k_ocloc_spirv, spirv()}});
  const auto found = *read_bytes(file);
  REQUIRE(found.images.size() == 2);
  CHECK(found.images[1].bytes == spirv().size());
  CHECK(found.images[0].bytes + found.images[1].bytes == file.size());
}

TEST_CASE("Sections of a device binary that overlap are refused") {
  std::string file = ocloc_file({{"s", k_ocloc_spirv, spirv()}, {"s", k_ocloc_spirv, spirv()}});
  const std::string offset_and_size = u64(64) + u64(spirv().size());
  const size_t row = file.find(offset_and_size);
  for (const size_t section : {0, 1})  // each is all of the file up to its headers
    file.replace(row + section * 64, 16, u64(64) + u64(file.size() - 64));
  CHECK(images(file) == damage("the images of a file overlap"));
}

TEST_CASE("An archive of ocloc has an image for each device, and its members' names say which") {
  CHECK(images(ocloc_archive()) == "pvc dg2-g10 spir64");
  CHECK(read_bytes(ocloc_archive())->containers.size() == 1);
  const auto member = [](const std::string& name, uint32_t core) {
    return images(
        archive({archive_member(name, ocloc_file({{"b", k_ocloc_binary, device_binary(core, 0)}}))}));
  };
  CHECK(member("64.9.4.0/", 0xc) == "glk");  // which the binary alone does not say
  CHECK(member("64.12.60.7/", 0xc07) == damage("the member 64.12.60.7 (pvc) holds code for dg2-g12"));
  CHECK(member("64.77.1.0/", 0xc) == unknown("code for Intel's 64.77.1.0"));
}

TEST_CASE("Kernels of both forms") {
  const auto kernels_of = [](const std::string& bytes) {
    std::string text;
    const auto found = read_kernels(MemoryBytes(as_bytes_of(bytes)), "x");
    REQUIRE(found);
    for (const ImageKernels& image : *found)
      for (const Kernel& kernel : image.kernels)
        text += image.image.target.name() + " " + kernel.name + " " + std::to_string(kernel.bytes) + ";";
    return text;
  };
  CHECK(kernels_of(pvc_file()) == "pvc k 16;");
  CHECK(kernels_of(zebin({{1, u32(0x12)}})) == "skl k 32;");
  CHECK(kernels_of(sycl_library(*compress(pvc_file()))) == "pvc k 16;");
  std::string many = pvc_file();
  many.replace(many.find("CTNI") + 16, 4, u32(1000));
  CHECK(read_kernels(MemoryBytes(as_bytes_of(many)), "x").error().what ==
        "its device code is damaged: a device binary ends inside of its kernels");
}
