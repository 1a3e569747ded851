// The parts of ELF-64 (little-endian) that dsbuild needs: sections by name, symbols, relocations, needed
// libraries. Source: the System V ABI's ELF-64 object file format, as in elf.h of the C library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "binary/image.h"

namespace dsbuild {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint32_t link = 0;  // a string table's index, for symbols and the dynamic section
  Bytes bytes;        // empty for a section without bytes in the file
};

struct ElfFile {
  uint8_t abi_version = 0;
  uint16_t type = 0;
  uint16_t machine = 0;
  uint32_t flags = 0;
  std::vector<ElfSection> sections;
  const ElfSection* find(std::string_view name) const;
};

constexpr uint16_t k_machine_cuda = 190;  // EM_CUDA: a cubin
constexpr uint16_t k_machine_aarch64 = 183;

bool is_elf(Bytes file);
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

std::vector<std::string> elf_needed(const ElfFile& elf);  // DT_NEEDED, file order

}  // namespace dsbuild
