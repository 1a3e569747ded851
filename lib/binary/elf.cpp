#include "binary/elf.h"

#include <algorithm>

#include "binary/bytes.h"

namespace dsbuild {
namespace {

constexpr size_t k_elf_header_size = 64;
constexpr size_t k_section_header_size = 64;
constexpr size_t k_relocation_size = 24;
constexpr size_t k_version_entry_size = 16;  // a library's head and each of its versions alike

constexpr uint32_t k_no_bits = 8;                   // SHT_NOBITS
constexpr uint16_t k_in_section_0 = 65535;          // SHN_XINDEX: the number did not fit, section 0 holds it
constexpr uint32_t k_wanted_versions = 0x6ffffffe;  // SHT_GNU_verneed
constexpr int k_section_symbol = 3;                 // STT_SECTION

// Types of cubins for a device link, whose sections say how much memory they want and have no bytes in the
// file: SHT_CUDA_GLOBAL, _LOCAL, _SHARED, as cuobjdump -elf names them.
constexpr uint32_t k_cuda_global = 0x70000007, k_cuda_local = 0x70000009, k_cuda_shared = 0x7000000a;

// Bounds what hostile tables of overlapping names can cost; kernels of templates have names of thousands of
// characters.
constexpr size_t k_longest_name = 1 << 16;
constexpr size_t k_most_versions = 4096;  // libraries want some tens

// The text up to the next zero byte; "" when it does not lie inside.
std::string_view text_at(Bytes strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = as_text(strings).substr(static_cast<size_t>(offset), k_longest_name);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

struct SectionRow {
  uint32_t name = 0;
  uint32_t type = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
};

SectionRow load_section_row(Bytes table, size_t index) {
  const Bytes row = table.subspan(index * k_section_header_size, k_section_header_size);
  return {.name = load<uint32_t>(row, 0),
          .type = load<uint32_t>(row, 4),
          .address = load<uint64_t>(row, 16),
          .offset = load<uint64_t>(row, 24),
          .size = load<uint64_t>(row, 32),
          .link = load<uint32_t>(row, 40),
          .info = load<uint32_t>(row, 44)};
}

bool has_bytes(const SectionRow& row, uint16_t machine) {
  if (row.type == k_no_bits) return false;
  return machine != k_machine_cuda ||
         (row.type != k_cuda_global && row.type != k_cuda_local && row.type != k_cuda_shared);
}

// The section header table: as many rows as the file says it has, all of them inside the file.
Result<std::string> section_table(ByteRange file, Bytes header, const std::string& name) {
  const auto offset = load<uint64_t>(header, 40);
  if (offset == 0) return std::string();
  if (load<uint16_t>(header, 58) != k_section_header_size)
    return bad_elf(name, "has section headers of unknown size");
  DSBUILD_TRY(first, file.read(offset, k_section_header_size));
  if (first.size() < k_section_header_size) return bad_elf(name, "ends before its section headers");
  uint64_t count = load<uint16_t>(header, 60);
  if (count == 0) count = load_section_row(as_bytes_of(first), 0).size;
  if (count > file.size() / k_section_header_size)
    return bad_elf(name, "says it has more sections than fit in it");
  const auto table = file.part(offset, count * k_section_header_size);
  if (!table) return bad_elf(name, "ends inside its section headers");
  return table->read_all();
}

// The bytes of the string table that holds the sections' names.
Result<std::string> section_names(ByteRange file, Bytes header, Bytes table, const std::string& name) {
  const size_t count = table.size() / k_section_header_size;
  if (count == 0) return std::string();
  uint32_t index = load<uint16_t>(header, 62);
  if (index == k_in_section_0) index = load_section_row(table, 0).link;
  if (index >= count) return bad_elf(name, "has no table of section names");
  const SectionRow row = load_section_row(table, index);
  const auto strings = file.part(row.offset, row.size);
  if (!strings) return bad_elf(name, "ends before its table of section names");
  return strings->read_all();
}

// A symbol of an object or library that others can link against.
bool is_exported(Bytes symbol) {
  const auto info = load<uint8_t>(symbol, 4);
  const auto other = load<uint8_t>(symbol, 5);
  const auto section = load<uint16_t>(symbol, 6);
  const int binding = info >> 4;
  const int type = info & 15;
  const int visibility = other & 3;
  const bool linkable = binding == 1 || binding == 2 || binding == 10;  // STB_GLOBAL, _WEAK, _GNU_UNIQUE
  const bool entity = type != k_section_symbol && type != 4;            // not STT_FILE
  const bool visible = visibility == 0 || visibility == 3;              // STV_DEFAULT, _PROTECTED
  return linkable && entity && visible && section != 0;
}

const ElfSection* linked(const ElfFile& elf, const ElfSection& section) {
  return section.link < elf.sections.size() ? &elf.sections[section.link] : nullptr;
}

// The name of a section's symbol is the section's.
std::string_view symbol_name(const ElfFile& elf, const ElfSection& symbols, uint32_t index) {
  const auto symbol = slice(symbols.bytes, uint64_t{index} * k_symbol_size, k_symbol_size);
  if (!symbol) return {};
  const auto section = load<uint16_t>(*symbol, 6);
  if ((load<uint8_t>(*symbol, 4) & 15) == k_section_symbol && section < elf.sections.size())
    return elf.sections[section].name;
  const ElfSection* strings = linked(elf, symbols);
  return strings ? text_at(strings->bytes, load<uint32_t>(*symbol, 0)) : std::string_view{};
}

// The entries of a table of wanted versions form chains: each holds the distance to its next one, or 0. Those
// of a hostile file may meet, and would be walked again and again, so that `most` bounds all of them
// together.
template <class Visit>
void walk_versions(Bytes table, uint64_t offset, size_t& most, Visit visit) {
  while (most > 0) {
    const auto entry = slice(table, offset, k_version_entry_size);
    if (!entry) return;
    --most;
    visit(*entry, offset);
    const auto distance = load<uint32_t>(*entry, 12);  // vn_next, vna_next
    if (distance == 0) return;
    offset += distance;
  }
}

}  // namespace

tl::unexpected<Error> bad_elf(const std::string& name, std::string what) {
  return fail(Exit::failed, "bad_elf", name, std::move(what),
              "Build the file again; it is damaged or foreign.");
}

const ElfSectionHeader* ElfHeaders::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSectionHeader::name);
  return found == sections.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

bool is_elf(Bytes file) {
  return as_text(file).substr(0, 4) ==
         "\x7f"
         "ELF";
}

Result<ElfHeaders> read_elf_headers(ByteRange file, const std::string& name) {
  DSBUILD_TRY(start, file.read(0, k_elf_header_size));
  const Bytes header = as_bytes_of(start);
  if (!is_elf(header) || header.size() < k_elf_header_size) return bad_elf(name, "is not an ELF file");
  const bool wide = load<uint8_t>(header, 4) == 2;
  const bool little_endian = load<uint8_t>(header, 5) == 1;
  if (!wide || !little_endian) return bad_elf(name, "is not a 64-bit little-endian ELF file");
  DSBUILD_TRY(rows, section_table(file, header, name));
  const Bytes table = as_bytes_of(rows);
  DSBUILD_TRY(names, section_names(file, header, table, name));
  ElfHeaders elf{{.abi_version = load<uint8_t>(header, 8),
                  .type = load<uint16_t>(header, 16),
                  .machine = load<uint16_t>(header, 18),
                  .flags = load<uint32_t>(header, 48)},
                 {},
                 std::make_shared<const std::string>(std::move(names))};
  const size_t count = table.size() / k_section_header_size;
  elf.sections.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const SectionRow row = load_section_row(table, i);
    const bool is_stored = i != 0 && has_bytes(row, elf.machine);
    if (is_stored && !file.holds(row.offset, row.size))
      return bad_elf(name, "ends inside section " + std::to_string(i));
    elf.sections.push_back({.name = text_at(as_bytes_of(*elf.names), row.name),
                            .type = row.type,
                            .link = row.link,
                            .info = row.info,
                            .address = row.address,
                            .size = row.size,
                            .offset = is_stored ? row.offset : 0,
                            .stored_size = is_stored ? row.size : 0});
  }
  return elf;
}

ByteRange bytes_of(const ElfSectionHeader& section, ByteRange file) {
  return *file.part(section.offset, section.stored_size);
}

Result<uint64_t> elf_size(ByteRange file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  DSBUILD_TRY(start, file.read(0, k_elf_header_size));
  uint64_t end = std::max<uint64_t>(k_elf_header_size, load<uint64_t>(as_bytes_of(start), 40) +
                                                           elf.sections.size() * k_section_header_size);
  for (const ElfSectionHeader& section : elf.sections)
    end = std::max(end, section.offset + section.stored_size);
  return end;
}

Result<ElfFile> read_elf(Bytes file, const std::string& name) {
  DSBUILD_TRY(headers, read_elf_headers(MemoryBytes(file), name));
  ElfFile elf{headers, {}, headers.names};
  elf.sections.reserve(headers.sections.size());
  for (const ElfSectionHeader& section : headers.sections) {
    const auto bytes = slice(file, section.offset, section.stored_size);
    elf.sections.push_back({section, bytes.value_or(Bytes())});
  }
  return elf;
}

std::vector<std::string> elf_exports(const ElfFile& elf) {
  const ElfSection* symbols = elf.find(elf.type == k_relocatable ? ".symtab" : ".dynsym");
  const ElfSection* strings = symbols ? linked(elf, *symbols) : nullptr;
  std::vector<std::string> names;
  if (!strings) return names;
  for (size_t at = 0; symbols->bytes.size() - at >= k_symbol_size; at += k_symbol_size) {
    const Bytes symbol = symbols->bytes.subspan(at, k_symbol_size);
    const std::string_view name = text_at(strings->bytes, load<uint32_t>(symbol, 0));
    if (!name.empty() && is_exported(symbol)) names.emplace_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<ElfRelocation> elf_relocations(const ElfFile& elf, const ElfSection& section) {
  const ElfSection* symbols = section.type == k_relocations ? linked(elf, section) : nullptr;
  std::vector<ElfRelocation> relocations;
  if (!symbols) return relocations;
  for (size_t at = 0; section.bytes.size() - at >= k_relocation_size; at += k_relocation_size) {
    const Bytes entry = section.bytes.subspan(at, k_relocation_size);
    const auto info = load<uint64_t>(entry, 8);
    relocations.push_back({.offset = load<uint64_t>(entry, 0),
                           .type = static_cast<uint32_t>(info),
                           .addend = load<uint64_t>(entry, 16),
                           .symbol = symbol_name(elf, *symbols, static_cast<uint32_t>(info >> 32))});
  }
  return relocations;
}

std::optional<ElfSymbol> elf_symbol(const ElfFile& elf, const ElfSection& symbols, uint32_t index) {
  const auto symbol = slice(symbols.bytes, uint64_t{index} * k_symbol_size, k_symbol_size);
  if (!symbol) return std::nullopt;
  return ElfSymbol{.name = symbol_name(elf, symbols, index),
                   .other = load<uint8_t>(*symbol, 5),
                   .section = load<uint16_t>(*symbol, 6),
                   .value = load<uint64_t>(*symbol, 8),
                   .size = load<uint64_t>(*symbol, 16)};
}

std::vector<std::string> elf_needed(const ElfFile& elf) {
  const ElfSection* dynamic = elf.find(".dynamic");
  const ElfSection* strings = dynamic ? linked(elf, *dynamic) : nullptr;
  std::vector<std::string> names;
  if (!strings) return names;
  for (size_t at = 0; dynamic->bytes.size() - at >= k_dynamic_size; at += k_dynamic_size) {
    const Bytes entry = dynamic->bytes.subspan(at, k_dynamic_size);
    const std::string_view name = text_at(strings->bytes, load<uint64_t>(entry, 8));
    if (load<uint64_t>(entry, 0) == k_needed && !name.empty()) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> elf_wanted_versions(const ElfFile& elf) {
  const auto table = std::ranges::find(elf.sections, k_wanted_versions, &ElfSection::type);
  const ElfSection* strings = table == elf.sections.end() ? nullptr : linked(elf, *table);
  std::vector<std::string> names;
  if (!strings) return names;
  size_t most = k_most_versions;
  walk_versions(table->bytes, 0, most, [&](Bytes library, uint64_t offset) {
    const uint64_t first = offset + load<uint32_t>(library, 8);  // vn_aux
    walk_versions(table->bytes, first, most, [&](Bytes version, uint64_t) {
      const std::string_view name = text_at(strings->bytes, load<uint32_t>(version, 8));  // vna_name
      if (!name.empty()) names.emplace_back(name);
    });
  });
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace dsbuild
