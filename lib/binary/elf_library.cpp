#include "binary/elf_library.h"

#include <algorithm>
#include <bit>

#include "binary/bytes.h"

namespace dsbuild {
namespace {

constexpr size_t k_version_size = 2;
constexpr size_t k_hash_header_size = 16;
constexpr size_t k_filter_word_size = 8, k_hash_word_size = 4;
constexpr uint32_t k_filter_bits = 64;  // of a word

constexpr uint32_t k_dynamic_section = 6;               // SHT_DYNAMIC
constexpr uint32_t k_dynamic_symbols = 11;              // SHT_DYNSYM
constexpr uint32_t k_gnu_hash = 0x6ffffff6;             // SHT_GNU_HASH
constexpr uint32_t k_versions_of_symbols = 0x6fffffff;  // SHT_GNU_versym

constexpr uint64_t k_own_name_tag = 14;  // DT_SONAME
constexpr uint64_t k_rpath_tag = 15, k_runpath_tag = 29;

constexpr int k_global = 1;              // STB_GLOBAL
constexpr uint16_t k_no_section = 0;     // SHN_UNDEF
constexpr uint16_t k_first_version = 2;  // VER_NDX_GLOBAL + 1; the highest bit hides a definition
constexpr uint16_t k_version_number = 0x7fff;

template <class Number>
Result<Number> number_at(ByteRange bytes, uint64_t offset, const std::string& name) {
  DSBUILD_TRY(text, bytes.read(offset, sizeof(Number)));
  if (text.size() < sizeof(Number)) return bad_elf(name, "ends inside its hash table");
  return load<Number>(as_bytes_of(text), 0);
}

// A string table may have megabytes: what is read of it is little at first.
Result<std::string> text_at(ByteRange strings, uint64_t offset, const std::string& name) {
  for (uint64_t size = 256;; size *= 16) {
    DSBUILD_TRY(text, strings.read(offset, size));
    const auto end = std::ranges::find(text, '\0');
    if (end != text.end()) return std::string(text.begin(), end);
    if (text.size() < size) return bad_elf(name, "ends inside a name");
  }
}

uint32_t gnu_hash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name)
    hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

const ElfSectionHeader* find_type(const ElfHeaders& elf, uint32_t type) {
  const auto found = std::ranges::find(elf.sections, type, &ElfSectionHeader::type);
  return found == elf.sections.end() ? nullptr : &*found;
}

std::optional<ByteRange> bytes_of_type(const ElfHeaders& elf, uint32_t type, ByteRange file) {
  const ElfSectionHeader* section = find_type(elf, type);
  return section ? std::optional(bytes_of(*section, file)) : std::nullopt;
}

// Of the string table that the section names.
std::optional<ByteRange> strings_of(const ElfHeaders& elf, const ElfSectionHeader* section, ByteRange file) {
  if (!section || section->link >= elf.sections.size()) return std::nullopt;
  return bytes_of(elf.sections[section->link], file);
}

}  // namespace

uint64_t ElfLibrary::HashTable::buckets_begin() const {
  return k_hash_header_size + uint64_t{filter_words} * k_filter_word_size;
}

uint64_t ElfLibrary::HashTable::chains_begin() const {
  return buckets_begin() + uint64_t{buckets} * k_hash_word_size;
}

Result<ElfLibrary> ElfLibrary::read(ByteRange file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  ElfLibrary library(name, elf.machine);
  DSBUILD_CHECK(library.read_stack(file));
  library.symbols_ = bytes_of_type(elf, k_dynamic_symbols, file);
  library.strings_ = strings_of(elf, find_type(elf, k_dynamic_symbols), file);
  library.versions_ = bytes_of_type(elf, k_versions_of_symbols, file);
  const auto dynamic = bytes_of_type(elf, k_dynamic_section, file);
  const auto strings = strings_of(elf, find_type(elf, k_dynamic_section), file);
  if (dynamic && strings) DSBUILD_CHECK(library.read_dynamic(*dynamic, *strings));
  if (const auto table = bytes_of_type(elf, k_gnu_hash, file); table && library.symbols_ && library.strings_)
    DSBUILD_CHECK(library.read_hash_table(*table));
  return library;
}

// Elf64_Ehdr and Elf64_Phdr of elf.h.
Result<void> ElfLibrary::read_stack(ByteRange file) {
  constexpr uint64_t k_header_size = 64, k_program_header_size = 56;
  constexpr uint32_t k_stack = 0x6474e551, k_executable = 1;  // PT_GNU_STACK, PF_X
  DSBUILD_TRY(header, file.read(0, k_header_size));
  if (header.size() < k_header_size) return bad_elf(name_, "ends inside its header");
  const uint64_t begin = load<uint64_t>(as_bytes_of(header), 32);
  const uint64_t count = load<uint16_t>(as_bytes_of(header), 56);
  DSBUILD_TRY(table, file.read(begin, count * k_program_header_size));
  const Bytes headers = as_bytes_of(table);
  for (size_t at = 0; headers.size() - at >= k_program_header_size; at += k_program_header_size)
    if (load<uint32_t>(headers, at) == k_stack)
      wants_executable_stack_ = (load<uint32_t>(headers, at + 4) & k_executable) != 0;
  return {};
}

Result<void> ElfLibrary::read_dynamic(ByteRange entries, ByteRange strings) {
  DSBUILD_TRY(bytes, entries.read_all());
  const Bytes table = as_bytes_of(bytes);
  for (size_t at = 0; table.size() - at >= k_dynamic_size; at += k_dynamic_size) {
    const auto tag = load<uint64_t>(table, at);
    if (tag != k_needed && tag != k_own_name_tag && tag != k_rpath_tag && tag != k_runpath_tag) continue;
    DSBUILD_TRY(text, text_at(strings, load<uint64_t>(table, at + 8), name_));
    if (tag == k_own_name_tag)
      own_name_ = std::move(text);
    else
      (tag == k_needed ? needed_ : searched_).push_back(std::move(text));
  }
  return {};
}

Result<void> ElfLibrary::read_hash_table(ByteRange bytes) {
  DSBUILD_TRY(header, bytes.read(0, k_hash_header_size));
  if (header.size() < k_hash_header_size) return bad_elf(name_, "ends inside its hash table");
  const Bytes words = as_bytes_of(header);
  const HashTable table{bytes, load<uint32_t>(words, 0), load<uint32_t>(words, 4), load<uint32_t>(words, 8),
                        load<uint32_t>(words, 12)};
  if (table.buckets == 0 || !std::has_single_bit(table.filter_words) || table.filter_shift >= 32)
    return bad_elf(name_, "has a hash table that no loader takes");
  hash_table_ = table;
  return {};
}

Result<std::vector<UndefinedSymbol>> ElfLibrary::undefined_symbols() const {
  std::vector<UndefinedSymbol> undefined;
  if (!symbols_ || !strings_) return undefined;
  DSBUILD_TRY(table, symbols_->read_all());
  DSBUILD_TRY(names, strings_->read_all());
  DSBUILD_TRY(versions, versions_ ? versions_->read_all() : Result<std::string>());
  const Bytes symbols = as_bytes_of(table);
  const MemoryBytes strings(as_bytes_of(names));
  for (size_t i = 0; i < symbols.size() / k_symbol_size; ++i) {
    const Bytes symbol = symbols.subspan(i * k_symbol_size, k_symbol_size);
    if (load<uint8_t>(symbol, 4) >> 4 != k_global || load<uint16_t>(symbol, 6) != k_no_section) continue;
    DSBUILD_TRY(name, text_at(strings, load<uint32_t>(symbol, 0), name_));
    const auto version = slice(as_bytes_of(versions), i * k_version_size, k_version_size);
    const bool has_version = version && (load<uint16_t>(*version, 0) & k_version_number) >= k_first_version;
    undefined.push_back({std::move(name), has_version});
  }
  return undefined;
}

Result<bool> ElfLibrary::is_definition(uint64_t index, std::string_view name) const {
  DSBUILD_TRY(symbol, symbols_->read(index * k_symbol_size, k_symbol_size));
  if (symbol.size() < k_symbol_size) return bad_elf(name_, "has a hash table of other symbols");
  const Bytes row = as_bytes_of(symbol);
  if (load<uint16_t>(row, 6) == k_no_section) return false;
  DSBUILD_TRY(text, strings_->read(load<uint32_t>(row, 0), name.size() + 1));
  return text.size() == name.size() + 1 && text.starts_with(name) && text.back() == '\0';
}

// A filter says of most symbols that are not there that they are not. A bucket has the first of its symbols;
// those that follow are in the table up to one whose lowest bit is set, which is no part of its hash.
Result<std::optional<bool>> ElfLibrary::defines(std::string_view symbol) const {
  if (!hash_table_) return std::nullopt;
  const HashTable& table = *hash_table_;
  const uint32_t hash = gnu_hash(symbol);
  const uint32_t word = hash / k_filter_bits & (table.filter_words - 1);
  DSBUILD_TRY(filter,
              number_at<uint64_t>(table.bytes, k_hash_header_size + word * k_filter_word_size, name_));
  const uint32_t other_bit = (hash >> table.filter_shift) % k_filter_bits;
  if ((filter >> hash % k_filter_bits & filter >> other_bit & 1) == 0) return false;
  const uint64_t bucket = table.buckets_begin() + uint64_t{hash % table.buckets} * k_hash_word_size;
  DSBUILD_TRY(first, number_at<uint32_t>(table.bytes, bucket, name_));
  if (first == 0) return false;
  if (first < table.first_symbol) return bad_elf(name_, "has a hash table of other symbols");
  for (uint64_t index = first;; ++index) {
    const uint64_t link = table.chains_begin() + (index - table.first_symbol) * k_hash_word_size;
    DSBUILD_TRY(found, number_at<uint32_t>(table.bytes, link, name_));
    if ((found | 1) == (hash | 1)) {
      DSBUILD_TRY(is_found, is_definition(index, symbol));
      if (is_found) return true;
    }
    if ((found & 1) != 0) return false;
  }
}

}  // namespace dsbuild
