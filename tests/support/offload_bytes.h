// Device code of AMD's and Intel's GPUs made by hand, byte for byte as docs/internals/offload_bundles.md
// describes it.
#pragma once

#include <zlib.h>

#include "base/compress.h"
#include "base/digest.h"
#include "support/sample_bytes.h"

namespace dsbuild::samples {

constexpr uint32_t k_gfx90a = 0x53f;        // e_flags: each feature as the GPU has it
constexpr uint32_t k_gfx90a_xnack = 0x73f;  // with xnack+
constexpr uint32_t k_gfx1100 = 0x41;        // has no features
constexpr uint32_t k_gfx9_4_generic = 0x100055f;

inline std::string code_object(uint32_t flags, const std::string& code = "code", uint8_t abi_version = 2) {
  return elf({{".text", 1, code}}, {.type = 3, .machine = 224, .flags = flags, .abi_version = abi_version});
}

struct Entry {
  std::string id;
  std::string code;
};
inline std::string hip_id(const std::string& target) {
  return "hipv4-amdgcn-amd-amdhsa--" + target;
}

// The codes one behind the other, at multiples of `alignment`.
inline std::string bundle(const std::vector<Entry>& entries, size_t alignment = 8) {
  size_t header_size = 32;
  for (const Entry& entry : entries)
    header_size += 24 + entry.id.size();
  std::string header = "__CLANG_OFFLOAD_BUNDLE__" + u64(entries.size()),
              codes = std::string(header_size, '\0');
  for (const Entry& entry : entries) {
    if (!entry.code.empty()) codes = padded(codes, alignment);
    header +=
        u64(entry.code.empty() ? 0 : codes.size()) + u64(entry.code.size()) + u64(entry.id.size()) + entry.id;
    codes += entry.code;
  }
  return header + codes.substr(header_size);
}

// One for gfx90a and gfx1100, and the host's empty entry.
inline std::string small_bundle() {
  return bundle({{"host-x86_64-unknown-linux-gnu-", ""},
                 {hip_id("gfx1100"), code_object(k_gfx1100)},
                 {hip_id("gfx90a"), code_object(k_gfx90a)}});
}

inline std::string zlib_packed(const std::string& bytes) {
  std::string packed(compressBound(bytes.size()), '\0');
  uLongf size = packed.size();
  ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
              bytes.size(), 9);
  packed.resize(size);
  return packed;
}

// A compressed bundle of a version; method 0 is zlib, 1 zstd.
inline std::string packed_bundle(const std::string& plain, unsigned version = 3, unsigned method = 1) {
  const std::string packed = method == 0 ? zlib_packed(plain) : *dsbuild::compress(plain);
  const std::string hash = md5(plain).substr(0, 8);
  const std::string start = "CCOB" + u16(version) + u16(method);
  if (version == 1) return start + u32(plain.size()) + hash + packed;
  if (version == 2) return start + u32(24 + packed.size()) + u32(plain.size()) + hash + packed;
  return start + u64(32 + packed.size()) + u64(plain.size()) + hash + packed;
}

// A library with these bundles, and a wrapper for each of them (or for so many).
inline std::string hip_library(const std::vector<std::string>& bundles, size_t wrappers) {
  std::string section, segment;
  for (const std::string& one : bundles)
    section = padded(section, 4096) + one;
  for (size_t i = 0; i < wrappers; ++i)
    segment += "FPIH" + u32(1) + u64(0x1000 * (i + 1)) + u64(0);
  return elf({{".hip_fatbin", 1, section}, {".hipFatBinSegment", 1, segment}});
}
inline std::string hip_library(const std::vector<std::string>& bundles) {
  return hip_library(bundles, bundles.size());
}

// A module with physical addressing of so many bits: header, OpMemoryModel, an instruction of its own.
inline std::string spirv(uint32_t addressing = 2, uint32_t last_word = 7) {
  return u32(0x07230203) + u32(0x10400) + u32(0) + u32(10) + u32(0) + u32(3 << 16 | 14) + u32(addressing) +
         u32(2) + u32(2 << 16 | 17) + u32(last_word);
}
inline std::string big_endian_words(std::string bytes) {
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4)
    std::swap(bytes[i], bytes[i + 3]), std::swap(bytes[i + 1], bytes[i + 2]);
  return bytes;
}

// The older form: one kernel `name` of 16 bytes.
inline std::string device_binary(uint32_t core, uint32_t stepping, const std::string& name = "k") {
  const std::string text = padded(name + '\0', 4);
  return "CTNI" + u32(1081) + u32(core) + u32(8) + u32(1) + u32(stepping) + u32(0) +
         (u32(1) + u64(2) + u32(text.size()) + u32(4) + u32(32) + u32(0) + u32(0) + u32(0) + u32(16)) + text +
         zeros(36);
}
constexpr uint32_t k_ocloc_spirv = 0xff000009, k_ocloc_binary = 0xff000005;
inline std::string ocloc_file(const std::vector<Section>& sections, uint16_t type = 0xff04) {
  return elf(sections, {.type = type, .machine = 0});
}
inline std::string pvc_file() {
  return ocloc_file({{"SPIRV Object", k_ocloc_spirv, spirv()},
                     {"Intel(R) OpenCL Device Binary", k_ocloc_binary, device_binary(0xc08, 7)}});
}

struct Note {
  uint32_t type;
  std::string value;
};
inline std::string zebin(const std::vector<Note>& notes, const std::vector<Section>& more = {}) {
  std::string bytes;
  for (const Note& note : notes)
    bytes += u32(8) + u32(note.value.size()) + u32(note.type) + "IntelGT" + '\0' + padded(note.value, 4);
  std::vector<Section> sections = {{".text.k", 1, zeros(32)}, {".note.intelgt.compat", 7, bytes}};
  sections.insert(sections.end(), more.begin(), more.end());
  return elf(sections, {.type = 1, .machine = 205});
}

inline std::string archive(const std::vector<std::string>& members) {
  std::string bytes = "!<arch>\n";
  for (const std::string& member : members)
    bytes += member;
  return bytes;
}
inline std::string ocloc_archive() {
  return archive({archive_member("pad_0/", "12345678"),
                  archive_member("64.12.60.7/", ocloc_file({{"b", k_ocloc_binary, device_binary(0xc08, 7)}})),
                  archive_member("64.12.55.8/", ocloc_file({{"b", k_ocloc_binary, device_binary(0xc07, 8)}})),
                  archive_member("generic_ir/", ocloc_file({{"s", k_ocloc_spirv, spirv()}}, 0xff02))});
}

}  // namespace dsbuild::samples
