#include "binary/image.h"

#include <algorithm>
#include <iterator>

#include "binary/archive.h"
#include "binary/bytes.h"
#include "binary/elf.h"
#include "binary/fatbin.h"

namespace dsbuild {
namespace {

constexpr uint8_t k_abi_with_shifted_arch = 8;  // CUDA 12.8 on, for new architectures; all in CUDA 13
constexpr uint32_t k_old_abi_suffix_a = 0x800;

// The word after `key` in `text`: up to a blank, a comma, a semicolon or a control character.
std::string_view word_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  const auto is_end = [](unsigned char c) { return c <= ' ' || c == ',' || c == ';'; };
  return rest.substr(0, static_cast<size_t>(std::ranges::find_if(rest, is_end) - rest.begin()));
}

// CUDA before 13: architecture and suffix are in the ELF flags.
std::optional<Target> target_of_flags(const ElfFile& elf) {
  const bool shifted = elf.abi_version >= k_abi_with_shifted_arch;
  const uint32_t number = shifted ? elf.flags >> 8 & 0xff : elf.flags & 0xff;
  if (!is_arch_number(number)) return std::nullopt;
  const bool has_suffix_a = !shifted && (elf.flags & k_old_abi_suffix_a) != 0;
  return NvidiaTarget{cc_of_arch_number(number), has_suffix_a ? Suffix::a : Suffix::none, CodeKind::real};
}

// Since CUDA 13 a cubin's flags hold no suffix; the ptxas command line that it records does.
std::optional<Target> cubin_target(const ElfFile& elf) {
  if (const ElfSection* tool = elf.find(".note.nv.tkinfo")) {
    const auto target = nvidia().parse_name(word_after(as_text(tool->bytes), "-arch "));
    if (target && !target->is_virtual()) return target;
  }
  return target_of_flags(elf);
}

void add_container(BinaryFile& to, FatbinContainer container) {
  std::ranges::copy(container.images, std::back_inserter(to.images));
  std::ranges::copy(container.tile_images, std::back_inserter(to.tile_images));
  to.containers.push_back(std::move(container));
}

BinaryFile one_image(const Target& target, Bytes file) {
  BinaryFile binary;
  const DeviceImage image = {.target = target, .bytes = file.size(), .compressed = false};
  add_container(binary, {.images = {image}, .tile_images = {}});
  return binary;
}

Result<BinaryFile> read_cubin(const ElfFile& elf, Bytes file, const std::string& name) {
  const auto target = cubin_target(elf);
  if (!target) return fail(Exit::failed, "bad_elf", name, "is a cubin of unknown architecture", "");
  return one_image(*target, file);
}

Result<BinaryFile> read_containers(Bytes section, const std::string& name) {
  DSBUILD_TRY(containers, read_fatbins(section, name));
  BinaryFile binary;
  for (FatbinContainer& container : containers)
    add_container(binary, std::move(container));
  return binary;
}

// __nv_relfatbin is where relocatable device code (nvcc -rdc=true) stays.
bool holds_device_code(const ElfSection& section) {
  return section.name == ".nv_fatbin" || section.name == "__nv_relfatbin";
}

void merge(BinaryFile& to, BinaryFile from) {
  for (FatbinContainer& container : from.containers)
    add_container(to, std::move(container));
  std::ranges::move(from.exports, std::back_inserter(to.exports));
  std::ranges::move(from.needed, std::back_inserter(to.needed));
}

Result<BinaryFile> read_elf_binary(Bytes file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf(file, name));
  if (elf.machine == k_machine_cuda) return read_cubin(elf, file, name);
  BinaryFile binary;
  size_t unread = file.size();
  for (const ElfSection& section : elf.sections) {
    if (!holds_device_code(section)) continue;
    if (section.bytes.size() > unread)
      return fail(Exit::failed, "bad_elf", name, "has sections that overlap", "");
    unread -= section.bytes.size();
    DSBUILD_TRY(found, read_containers(section.bytes, name));
    merge(binary, std::move(found));
  }
  binary.exports = elf_exports(elf);
  binary.needed = elf_needed(elf);
  return binary;
}

Result<BinaryFile> read_archive(Bytes file, const std::string& name) {
  DSBUILD_TRY(members, archive_members(file, name));
  BinaryFile binary;
  for (const Bytes member : members) {
    if (!is_elf(member)) continue;
    DSBUILD_TRY(object, read_elf_binary(member, name));
    merge(binary, std::move(object));
  }
  std::ranges::sort(binary.exports);
  const auto twins = std::ranges::unique(binary.exports);
  binary.exports.erase(twins.begin(), twins.end());
  return binary;
}

// PTX is text that names its virtual architecture: ".target sm_90a, debug".
std::optional<Target> ptx_target(std::string_view text) {
  if (text.find(".version ") == std::string_view::npos) return std::nullopt;
  const auto named = nvidia().parse_name(word_after(text, ".target "));
  if (!named || named->is_virtual()) return std::nullopt;
  NvidiaTarget target = nvidia_target(*named);
  target.kind = CodeKind::ptx;
  return target;
}

}  // namespace

Bytes as_bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<BinaryFile> read_binary(Bytes file, const std::string& name) {
  if (is_elf(file)) return read_elf_binary(file, name);
  if (is_archive(file)) return read_archive(file, name);
  if (is_fatbin(file)) return read_containers(file, name);
  if (const auto target = ptx_target(as_text(file))) return one_image(*target, file);
  return fail(Exit::failed, "bad_elf", name, "is no object, library, archive, fatbin, cubin or PTX",
              "Give a file that nvcc or a linker made.");
}

}  // namespace dsbuild
