// Reads the parts of a shared library or program that a loader needs, without reading the whole file: a few
// pages of gigabytes. Sources: the System V ABI for dynamic sections and symbols; for GNU's hash table, which
// no standard describes, elf/dl-setup_hash.c and elf/dl-lookup.c of glibc; for versions, the Linux Standard
// Base.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/elf.h"

namespace dsbuild {

// A symbol that a different library must define. The linker gives it a version if it found it in a library
// with versions, such as libc and libcudart. A symbol without a version may be defined nowhere.
struct UndefinedSymbol {
  std::string name;
  bool has_version = false;
  bool operator==(const UndefinedSymbol&) const = default;
};

class ElfLibrary {
 public:
  // The source of the bytes outlives it. Exit 1 `bad_elf` for what does not lie inside the file, `io` where
  // it cannot be read.
  static Result<ElfLibrary> read(ByteRange file, const std::string& name);

  uint16_t machine() const { return machine_; }
  const std::string& own_name() const { return own_name_; }                   // DT_SONAME; "" without one
  const std::vector<std::string>& needed() const { return needed_; }          // DT_NEEDED, file order
  const std::vector<std::string>& search_paths() const { return searched_; }  // DT_RPATH, DT_RUNPATH: "a:b"
  // By its PT_GNU_STACK; without one, as the kernel does.
  bool wants_executable_stack() const { return wants_executable_stack_; }

  // The undefined symbols that are not weak, in the file's order. Errors: as above.
  Result<std::vector<UndefinedSymbol>> undefined_symbols() const;

  // Whether the library defines the symbol, by GNU's hash table; nullopt if it has no such table. Ignores
  // versions. Errors: as above.
  Result<std::optional<bool>> defines(std::string_view symbol) const;

 private:
  struct HashTable {
    ByteRange bytes;
    uint32_t buckets, first_symbol, filter_words, filter_shift;
    uint64_t buckets_begin() const;
    uint64_t chains_begin() const;
  };

  ElfLibrary(const std::string& name, uint16_t machine) : name_(name), machine_(machine) {}
  Result<void> read_stack(ByteRange file);
  Result<void> read_dynamic(ByteRange entries, ByteRange strings);
  Result<void> read_hash_table(ByteRange bytes);
  Result<bool> is_definition(uint64_t index, std::string_view name) const;

  std::string name_;  // of the file
  uint16_t machine_;
  bool wants_executable_stack_ = true;
  std::string own_name_;
  std::vector<std::string> needed_, searched_;
  std::optional<ByteRange> symbols_, strings_, versions_;
  std::optional<HashTable> hash_table_;
};

}  // namespace dsbuild
