#include "binary/code_object.h"

#include <unordered_map>

#include "arch/amd.h"
#include "base/text.h"
#include "binary/bytes.h"
#include "binary/stored_image.h"

namespace dsbuild {
namespace {

// EI_ABIVERSION: 2, 3 and 4 are versions 4, 5 and 6 of code objects.
constexpr uint8_t k_oldest_abi = 2, k_newest_abi = 4;

constexpr std::string_view k_known_objects =
    "what clang 16 to 22 writes for HIP, code objects of version 4 to 6";

// Of the machine code that a symbol stands for, and of a kernel descriptor, 64 bytes: the first two numbers
// are its static shared memory and what each thread has of its own.
constexpr std::string_view k_descriptor_suffix = ".kd";
constexpr uint64_t k_descriptor_size = 64;

std::optional<Bytes> descriptor_bytes(const ElfFile& elf, const ElfSymbol& symbol) {
  if (symbol.section >= elf.sections.size()) return std::nullopt;
  const ElfSection& section = elf.sections[symbol.section];
  return symbol.value < section.address
             ? std::nullopt
             : slice(section.bytes, symbol.value - section.address, k_descriptor_size);
}

}  // namespace

Result<Target> code_object_target(const ElfKind& elf, const std::string& name) {
  if (elf.abi_version < k_oldest_abi || elf.abi_version > k_newest_abi)
    return unknown_device_code(name, "a code object of version " + std::to_string(elf.abi_version + 2),
                               std::string(k_known_objects));
  const auto target = amd_target_of(elf.flags);
  if (!target)
    return unknown_device_code(name, "code for AMD's e_flags " + hex(elf.flags),
                               std::string(k_known_objects));
  return *target;
}

Result<std::vector<Kernel>> read_code_object_kernels(Bytes file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf(file, name));
  const ElfSection* symbols = elf.find(".symtab") ? elf.find(".symtab") : elf.find(".dynsym");
  std::vector<Kernel> kernels;
  if (!symbols) return kernels;
  std::unordered_map<std::string_view, uint64_t> code_sizes;
  uint64_t name_bytes = 0;
  const auto each_symbol = [&](const auto& visit) {
    for (uint32_t i = 0; const auto symbol = elf_symbol(elf, *symbols, i); ++i)
      visit(*symbol);
  };
  each_symbol([&](const ElfSymbol& symbol) { code_sizes.emplace(symbol.name, symbol.size); });
  each_symbol([&](const ElfSymbol& symbol) {
    if (!symbol.name.ends_with(k_descriptor_suffix) || symbol.section == 0) return;
    const std::string_view kernel_name =
        symbol.name.substr(0, symbol.name.size() - k_descriptor_suffix.size());
    name_bytes += kernel_name.size();
    if (name_bytes > file.size()) return;
    Kernel kernel;
    kernel.name = kernel_name;
    kernel.is_entry = true;
    if (const auto code = code_sizes.find(kernel_name); code != code_sizes.end()) kernel.bytes = code->second;
    if (const auto descriptor = descriptor_bytes(elf, symbol)) {
      kernel.resources.shared = load<uint32_t>(*descriptor, 0);
      kernel.resources.stack = load<uint32_t>(*descriptor, 4);
    }
    kernels.push_back(std::move(kernel));
  });
  if (name_bytes > file.size()) return bad_device_code(name, "the names of an image's kernels overlap");
  return kernels;
}

}  // namespace dsbuild
