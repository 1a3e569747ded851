#include "binary/hip_wrappers.h"

#include <map>
#include <set>

#include "binary/bytes.h"
#include "binary/stored_image.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_wrapper_size = 24, k_pointer_at = 8;
constexpr std::string_view k_wrapper_magic = "FPIH";
constexpr uint64_t k_rela_size = 24;  // place, what is written there, addend
constexpr uint64_t k_symbol_bytes = 24;

// What a symbol stands for, by its number in a table of them.
Result<uint64_t> symbol_value(const ElfHeaders& elf, ByteRange file, uint32_t table, uint32_t symbol) {
  if (symbol == 0 || table >= elf.sections.size()) return 0;
  DSBUILD_TRY(row, file.read(elf.sections[table].offset + symbol * k_symbol_bytes, k_symbol_bytes));
  return row.size() < k_symbol_bytes ? 0 : load<uint64_t>(as_bytes_of(row), 8);
}

// The addresses that the loader writes into a part of memory, by their places.
Result<std::map<uint64_t, uint64_t>> relocated(const ElfHeaders& elf, ByteRange file, uint64_t begin,
                                               uint64_t end) {
  std::map<uint64_t, uint64_t> addresses;
  uint64_t unread = file.size();  // those of a damaged file may overlap
  for (const ElfSectionHeader& section : elf.sections) {
    if (section.type != k_relocations || section.stored_size > unread) continue;
    unread -= section.stored_size;
    DSBUILD_TRY(text, file.read(section.offset, section.stored_size));
    const Bytes bytes = as_bytes_of(text);
    for (uint64_t at = 0; const auto entry = slice(bytes, at, k_rela_size); at += k_rela_size) {
      const auto place = load<uint64_t>(*entry, 0);
      if (place < begin || place >= end) continue;
      const auto symbol = static_cast<uint32_t>(load<uint64_t>(*entry, 8) >> 32);
      DSBUILD_TRY(value, symbol_value(elf, file, section.link, symbol));
      addresses[place] = value + load<uint64_t>(*entry, 16);
    }
  }
  return addresses;
}

}  // namespace

Result<size_t> count_wrapped_bundles(const ElfHeaders& elf, ByteRange file, const std::string& name) {
  const ElfSectionHeader* section = elf.find(".hipFatBinSegment");
  if (!section) return 0;
  DSBUILD_TRY(text, file.read(section->offset, section->stored_size));
  const Bytes bytes = as_bytes_of(text);
  std::set<uint64_t> addresses;
  std::set<uint64_t> places;
  for (uint64_t at = 0; at < bytes.size(); at += k_wrapper_size) {
    const auto wrapper = slice(bytes, at, k_wrapper_size);
    if (!wrapper || !as_text(*wrapper).starts_with(k_wrapper_magic))
      return bad_device_code(name, "its .hipFatBinSegment is not what clang writes");
    const auto address = load<uint64_t>(*wrapper, k_pointer_at);
    if (address == 0) {
      places.insert(section->address + at + k_pointer_at);
    } else {
      addresses.insert(address);
    }
  }
  if (elf.type == k_relocatable) return bytes.size() / k_wrapper_size;
  if (places.empty()) return addresses.size();
  DSBUILD_TRY(written, relocated(elf, file, section->address, section->address + section->size));
  for (const uint64_t place : places)
    if (const auto found = written.find(place); found != written.end()) addresses.insert(found->second);
  return addresses.size();
}

}  // namespace dsbuild
