// The parts of ELF-64 (little-endian) that dsbuild needs: sections by name, symbols, relocations, needed
// libraries and versions. Source: the System V ABI's ELF-64 object file format, as in elf.h of the C library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/image.h"

namespace dsbuild {

struct ElfKind {
  uint8_t abi_version = 0;
  uint16_t type = 0;
  uint16_t machine = 0;
  uint32_t flags = 0;
};

struct ElfSectionHeader {
  std::string_view name;
  uint32_t type = 0;
  uint32_t link = 0;     // a string table's index, for symbols and the dynamic section
  uint32_t info = 0;     // what it means depends on the type
  uint64_t address = 0;  // in memory, of what is linked
  uint64_t size = 0;     // of the section in memory
  // Where its bytes are in the file, always within it. Both are 0 for a section that has none there.
  uint64_t offset = 0, stored_size = 0;
};

// What the headers alone say.
struct ElfHeaders : ElfKind {
  std::vector<ElfSectionHeader> sections;
  std::shared_ptr<const std::string> names;  // what the sections' names are views into
  const ElfSectionHeader* find(std::string_view name) const;
};

struct ElfSection : ElfSectionHeader {
  Bytes bytes;  // empty for a section without bytes in the file
};

struct ElfFile : ElfKind {
  std::vector<ElfSection> sections;
  std::shared_ptr<const std::string> names;  // as above; everything else is a view into the file
  const ElfSection* find(std::string_view name) const;
};

constexpr size_t k_symbol_size = 24;   // Elf64_Sym
constexpr size_t k_dynamic_size = 16;  // Elf64_Dyn

constexpr uint64_t k_needed = 1;  // DT_NEEDED

constexpr uint16_t k_relocatable = 1;     // ET_REL: an object
constexpr uint32_t k_relocations = 4;     // SHT_RELA
constexpr uint16_t k_machine_cuda = 190;  // EM_CUDA: a cubin
constexpr uint16_t k_machine_aarch64 = 183;
constexpr uint16_t k_machine_intel_gpu = 205;  // EM_INTELGT: a device binary, "zebin"
constexpr uint16_t k_machine_amdgpu = 224;     // EM_AMDGPU: a code object

bool is_elf(Bytes file);
// The error of all readers for a damaged file; `what` goes on after its name.
tl::unexpected<Error> bad_elf(const std::string& name, std::string what);
// Exit 1 `bad_elf` for anything that does not lie inside the file; `io` where it cannot be read.
Result<ElfHeaders> read_elf_headers(ByteRange file, const std::string& name);
// Of a section of this file.
ByteRange bytes_of(const ElfSectionHeader& section, ByteRange file);
// How many bytes from its beginning belong to it: its headers and its sections. Errors: as above.
Result<uint64_t> elf_size(ByteRange file, const std::string& name);
// Views into `file`. Exit 1 `bad_elf` for anything that does not lie inside the file.
Result<ElfFile> read_elf(Bytes file, const std::string& name);

// Defined, global or weak symbols of default visibility, sorted: the dynamic ones; an object's own.
std::vector<std::string> elf_exports(const ElfFile& elf);

struct ElfRelocation {
  uint64_t offset = 0;  // in the section that it changes
  uint32_t type = 0;
  uint64_t addend = 0;      // signed, as its bits
  std::string_view symbol;  // its name, or that of the section that it stands for
};
// Of ".rela.text", say, in its order; none where a section has no relocations.
std::vector<ElfRelocation> elf_relocations(const ElfFile& elf, const ElfSection& section);

struct ElfSymbol {
  std::string_view name;
  uint8_t other = 0;     // st_other: visibility, and bits that a processor defines
  uint16_t section = 0;  // the index of the one that defines it
  uint64_t value = 0;    // of what is linked, its address
  uint64_t size = 0;
};
// By its index in a symbol table; nullopt where there is none.
std::optional<ElfSymbol> elf_symbol(const ElfFile& elf, const ElfSection& symbols, uint32_t index);

std::vector<std::string> elf_needed(const ElfFile& elf);  // DT_NEEDED, file order
// Versions of symbols that it wants of others ("GLIBC_2.34"), of all libraries together: sorted, each once.
// From .gnu.version_r, as the Linux Standard Base lays it out (Elf64_Verneed, Elf64_Vernaux of elf.h).
std::vector<std::string> elf_wanted_versions(const ElfFile& elf);

}  // namespace dsbuild
