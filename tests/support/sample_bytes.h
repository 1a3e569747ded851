// Binary files made by hand, byte for byte as docs/internals/fatbin.md and the ELF-64 specification describe
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dsbuild::samples {

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return bytes;
}
inline std::string u16(uint64_t value) {
  return little_endian(static_cast<uint16_t>(value));
}
inline std::string u32(uint64_t value) {
  return little_endian(static_cast<uint32_t>(value));
}
inline std::string u64(uint64_t value) {
  return little_endian(value);
}
inline std::string zeros(size_t count) {
  return std::string(count, '\0');
}
inline std::string padded(std::string bytes, size_t alignment) {
  while (bytes.size() % alignment != 0)
    bytes.push_back('\0');
  return bytes;
}

constexpr uint16_t k_ptx = 1;
constexpr uint16_t k_elf = 2;
constexpr uint16_t k_tile_ir = 0x80;
constexpr uint64_t k_plain = 0x11;

inline std::string entry(uint16_t kind, uint32_t arch, uint64_t flags = k_plain,
                         const std::string& payload = "12345678", size_t header_size = 64) {
  return u16(kind) + u16(0x101) + u32(header_size) + u64(payload.size()) + u32(0) + u32(0) + u16(8) + u16(1) +
         u32(arch) + u32(0) + u32(0) + u64(flags) + u64(0) + u64(0) + zeros(header_size - 64) + payload;
}

// What a record of a concatenated entry says of its image. With a table of capabilities it is 120 bytes long.
struct ImageRecord {
  uint16_t kind = k_elf;
  uint32_t arch = 80;
  uint64_t flags = k_plain;
  uint32_t size = 0;  // unpacked
  bool has_table = false;
};

inline std::string record(const ImageRecord& image, uint64_t begin) {
  const std::string table = u32(72) + u32(40) + zeros(48);
  return u16(image.kind) + u16(0x101) + u32(begin) + u32(image.size) + u32(0) + u32(0) +
         u32(image.has_table ? 64 : 0) + u16(8) + u16(1) + u32(image.arch) + u32(0) + u32(0) +
         u64(image.flags) + u64(0) + u64(0) + (image.has_table ? table : "");
}

// An entry of kind 0x100: its images lie one behind the other in what `payload` gives when it is unpacked.
inline std::string concatenated(const std::vector<ImageRecord>& images, const std::string& payload,
                                uint64_t flags = 0x8011) {
  std::string records;
  uint64_t unpacked = 0;
  for (const ImageRecord& image : images) {
    records += record(image, unpacked);
    unpacked += image.size;
  }
  const std::string table = u32(images.size()) + u32(8 + records.size()) + records;
  return u16(0x100) + u16(0x101) + u32(64 + table.size()) + u64(payload.size()) + u32(payload.size()) +
         u32(64) + u16(1) + u16(0) + u32(0) + u32(0) + u32(0) + u64(flags) + u64(0) + u64(unpacked) + table +
         payload;
}

inline std::string container(const std::vector<std::string>& entries) {
  std::string body;
  for (const std::string& one : entries)
    body += one;
  return u32(0xba55ed50) + u16(1) + u16(16) + u64(body.size()) + body;
}

struct Section {
  std::string name;
  uint32_t type = 1;  // SHT_PROGBITS
  std::string bytes;
  uint32_t link = 0;  // counted from 1, in the order given
};

struct ElfHeader {
  uint16_t type = 3;      // ET_DYN
  uint16_t machine = 62;  // EM_X86_64
  uint32_t flags = 0;
  uint8_t abi_version = 0;
};

// Header, the sections' bytes, the names, the section headers: null, the given ones, the names.
inline std::string elf(const std::vector<Section>& sections, const ElfHeader& header = {}) {
  std::string bodies;
  std::string names(1, '\0');
  std::string table = zeros(64);
  const auto row = [](size_t name, uint32_t type, size_t offset, size_t size, uint32_t link) {
    return u32(name) + u32(type) + u64(0) + u64(0) + u64(offset) + u64(size) + u32(link) + u32(0) + u64(8) +
           u64(0);
  };
  for (const Section& section : sections) {
    bodies = padded(bodies, 8);
    table += row(names.size(), section.type, 64 + bodies.size(), section.bytes.size(), section.link);
    names += section.name + '\0';
    bodies += section.bytes;
  }
  const size_t names_row = names.size();
  names += std::string(".shstrtab") + '\0';
  table += row(names_row, 3, 64 + bodies.size(), names.size(), 0);
  bodies = padded(bodies + names, 8);
  const std::string start = std::string(
                                "\x7f"
                                "ELF\x02\x01\x01",
                                7) +
                            '\0' + static_cast<char>(header.abi_version) + zeros(7) + u16(header.type) +
                            u16(header.machine) + u32(1) + u64(0) + u64(0) + u64(64 + bodies.size()) +
                            u32(header.flags) + u16(64) + u16(0) + u16(0) + u16(64) +
                            u16(sections.size() + 2) + u16(sections.size() + 1);
  return start + bodies + table;
}

struct Symbol {
  std::string name;
  uint8_t binding = 1;  // STB_GLOBAL
  uint8_t visibility = 0;
  uint16_t section = 1;  // 0: undefined
  uint8_t type = 2;      // STT_FUNC
};

// The two sections of a symbol table: ".dynsym"/".dynstr" or ".symtab"/".strtab". `first` is the index
// that the first of them will have.
inline std::vector<Section> symbol_sections(const std::vector<Symbol>& symbols, uint32_t first,
                                            bool dynamic) {
  std::string table = zeros(24);
  std::string strings(1, '\0');
  for (const Symbol& symbol : symbols) {
    table += u32(strings.size()) + static_cast<char>(symbol.binding << 4 | symbol.type) +
             static_cast<char>(symbol.visibility) + u16(symbol.section) + u64(0) + u64(0);
    strings += symbol.name + '\0';
  }
  return {{dynamic ? ".dynsym" : ".symtab", dynamic ? 11U : 2U, table, first + 1},
          {dynamic ? ".dynstr" : ".strtab", 3, strings, 0}};
}

// An object whose code has two relocations: by the symbol `first`, and by the symbol of .text itself.
inline std::string object_with_relocations() {
  const uint64_t first = 1, text_section = 2, call = 4, absolute = 1;  // R_X86_64_PLT32, R_X86_64_64
  std::vector<Section> sections = {{".text", 1, zeros(64)},
                                   {".rela.text", 4,
                                    u64(17) + u64(first << 32 | call) + u64(~uint64_t{3}) + u64(40) +
                                        u64(text_section << 32 | absolute) + u64(8),
                                    3}};
  for (Section& section :
       symbol_sections({{.name = "first", .section = 0}, {.name = "", .binding = 0, .type = 3}}, 3, false))
    sections.push_back(std::move(section));
  return elf(sections, {.type = 1});
}

// A library that holds these containers and exports these functions.
inline std::string library(const std::vector<std::string>& containers,
                           const std::vector<std::string>& exports = {}) {
  std::string fatbins;
  for (const std::string& one : containers)
    fatbins = padded(fatbins, 8) + one;
  std::vector<Symbol> symbols;
  for (const std::string& name : exports)
    symbols.push_back({.name = name});
  std::vector<Section> sections = symbol_sections(symbols, 1, true);
  if (!containers.empty()) sections.push_back({".nv_fatbin", 1, fatbins});
  return elf(sections);
}

inline std::string archive_member(const std::string& name, const std::string& bytes) {
  const auto field = [](std::string text, size_t width) {
    return text + std::string(width - text.size(), ' ');
  };
  std::string member = field(name, 16) + field("0", 12) + field("0", 6) + field("0", 6) + field("644", 8) +
                       field(std::to_string(bytes.size()), 10) + "`\n" + bytes;
  return padded(member, 2);
}

}  // namespace dsbuild::samples
