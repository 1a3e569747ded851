#include "elf.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>

namespace fake {
namespace {

template <typename T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Section {
  std::string name, bytes;
  Elf64_Shdr header = {};
};

Section make_section(const std::string& name, unsigned type, unsigned flags, std::string bytes,
                     unsigned align) {
  Section section{name, std::move(bytes), {}};
  section.header.sh_type = type;
  section.header.sh_flags = flags;
  section.header.sh_addralign = align;
  return section;
}

// One byte of code for each function, in the first section.
void add_symbols(const Words& symbols, std::string& table, std::string& names) {
  put(table, Elf64_Sym{});
  names += '\0';
  for (size_t i = 0; i < symbols.size(); ++i) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = i;
    symbol.st_size = 1;
    put(table, symbol);
    names += symbols[i] + '\0';
  }
}

std::string laid_out(std::vector<Section> sections, unsigned type) {
  std::string names(1, '\0'), bytes(sizeof(Elf64_Ehdr), '\0');
  sections.push_back(make_section(".shstrtab", SHT_STRTAB, 0, "", 1));
  std::string table(sizeof(Elf64_Shdr), '\0');
  for (Section& section : sections) {
    section.header.sh_name = static_cast<Elf64_Word>(names.size());
    names += section.name + '\0';
  }
  sections.back().bytes = names;
  for (Section& section : sections) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    section.header.sh_offset = bytes.size();
    section.header.sh_size = section.bytes.size();
    if (type == ET_DYN && (section.header.sh_flags & SHF_ALLOC) != 0) section.header.sh_addr = bytes.size();
    bytes += section.bytes;
    put(table, section.header);
  }
  bytes.resize((bytes.size() + 7) / 8 * 8);
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = static_cast<Elf64_Half>(type);
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = bytes.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size() + 1);
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size());
  memcpy(bytes.data(), &header, sizeof header);
  return bytes + table;
}

std::string make_file(const Object& object, unsigned type) {
  const bool is_library = type == ET_DYN;
  std::vector<Section> sections;
  sections.push_back(make_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
                                  std::string(object.symbols.size(), '\xC3'), 1));
  if (!is_library) {  // as assemblers have it
    sections.push_back(make_section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, "", 1));
    sections.push_back(make_section(".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, "", 1));
  }
  if (!object.fatbin.empty())
    sections.push_back(make_section(".nv_fatbin", SHT_PROGBITS, SHF_ALLOC, object.fatbin, 8));
  if (!object.data.empty())
    sections.push_back(make_section(".rodata", SHT_PROGBITS, SHF_ALLOC, object.data, 1));
  if (!is_library) sections.push_back(make_section(".note.GNU-stack", SHT_PROGBITS, 0, "", 1));
  std::string table, names;
  add_symbols(object.symbols, table, names);
  const unsigned flags = is_library ? SHF_ALLOC : 0;
  Section symbols =
      make_section(is_library ? ".dynsym" : ".symtab", is_library ? SHT_DYNSYM : SHT_SYMTAB, flags, table, 8);
  symbols.header.sh_entsize = sizeof(Elf64_Sym);
  symbols.header.sh_link = static_cast<Elf64_Word>(sections.size() + 2);
  symbols.header.sh_info = 1;
  sections.push_back(symbols);
  sections.push_back(make_section(is_library ? ".dynstr" : ".strtab", SHT_STRTAB, flags, names, 1));
  return laid_out(std::move(sections), type);
}

std::string make_entry(const Image& image) {
  constexpr uint16_t k_ptx = 1, k_elf = 2;
  constexpr uint32_t k_compression = 0x11, k_specific = 0x100000, k_family = 0x200000;
  const size_t number = image.target.find('_') + 1;
  const char suffix = image.target.back();
  std::string entry;
  put(entry, starts_with(image.target, "sm_") ? k_elf : k_ptx);
  put(entry, uint16_t{0x101});
  put(entry, uint32_t{64});
  put(entry, uint64_t{image.bytes.size()});
  put(entry, uint32_t{0});
  put(entry, uint32_t{0});
  put(entry, uint16_t{8});
  put(entry, uint16_t{1});
  put(entry, static_cast<uint32_t>(atoi(image.target.c_str() + number)));
  put(entry, uint32_t{0});
  put(entry, uint32_t{0});
  put(entry, uint64_t{k_compression | (suffix == 'a' ? k_specific : suffix == 'f' ? k_family : 0)});
  put(entry, uint64_t{0});
  put(entry, uint64_t{0});
  return entry + image.bytes;
}

}  // namespace

std::string make_object(const Object& object) {
  return make_file(object, ET_REL);
}

std::string make_library(const Object& object) {
  return make_file(object, ET_DYN);
}

Object read_object(const std::string& path) {
  const std::string bytes = read(path, "ld");
  const auto broken = [&] { fail("ld: " + path + ": file format not recognized"); };
  Elf64_Ehdr header = {};
  if (bytes.size() < sizeof header || memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) broken();
  memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (header.e_shoff + sections.size() * sizeof(Elf64_Shdr) > bytes.size() ||
      sections.size() <= header.e_shstrndx)
    broken();
  memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto content = [&](const Elf64_Shdr& section) {
    if (section.sh_offset + section.sh_size > bytes.size()) broken();
    return bytes.substr(section.sh_offset, section.sh_size);
  };
  const std::string names = content(sections[header.e_shstrndx]);
  Object object;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    if (section.sh_name >= names.size()) broken();
    const std::string name = names.c_str() + section.sh_name;
    if (name == ".nv_fatbin") object.fatbin = content(section);
    if (name == ".rodata") object.data = content(section);
    if (name == ".strtab")
      for (const std::string& symbol : split(content(section), '\0'))
        if (!symbol.empty()) object.symbols.push_back(symbol);
  }
  return object;
}

std::string make_fatbin(const std::vector<Image>& images) {
  std::string body, bytes;
  for (const Image& image : images)
    body += make_entry(image);
  put(bytes, uint32_t{0xBA55ED50});
  put(bytes, uint16_t{1});
  put(bytes, uint16_t{16});
  put(bytes, uint64_t{body.size()});
  return bytes + body;
}

}  // namespace fake
