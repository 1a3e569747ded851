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
// One without code has its names, and a note with the command line that made it.
constexpr uint64_t k_largest_empty_image = 1 << 14;
constexpr size_t k_start_of_text = 1 << 16;  // PTX says what it is for behind its comments

// The word after `key` in `text`: up to a blank, a comma, a semicolon or a control character.
std::string_view word_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  const auto is_end = [](unsigned char c) { return c <= ' ' || c == ',' || c == ';'; };
  return rest.substr(0, static_cast<size_t>(std::ranges::find_if(rest, is_end) - rest.begin()));
}

// CUDA before 13: architecture and suffix are in the ELF flags.
std::optional<Target> target_of_flags(const ElfKind& elf) {
  const bool shifted = elf.abi_version >= k_abi_with_shifted_arch;
  const uint32_t number = shifted ? elf.flags >> 8 & 0xff : elf.flags & 0xff;
  if (!is_arch_number(number)) return std::nullopt;
  const bool has_suffix_a = !shifted && (elf.flags & k_old_abi_suffix_a) != 0;
  return NvidiaTarget{cc_of_arch_number(number), has_suffix_a ? Suffix::a : Suffix::none, CodeKind::real};
}

// Since CUDA 13 a cubin's flags hold no suffix; the ptxas command line that it records does.
Result<std::optional<Target>> cubin_target(const ElfHeaders& elf, ByteRange file) {
  if (const ElfSectionHeader* tool = elf.find(".note.nv.tkinfo")) {
    DSBUILD_TRY(note, file.read(tool->offset, tool->stored_size));
    const auto target = nvidia().parse_name(word_after(note, "-arch "));
    if (target && !target->is_virtual()) return target;
  }
  return target_of_flags(elf);
}

StoredContainer one_image(const Target& target, ByteRange file) {
  return {{.image = {.target = target, .bytes = file.size(), .compressed = false},
           .is_tile_ir = false,
           .content = file,
           .packing = Packing::none,
           .unpacked_size = file.size(),
           .begin = 0,
           .size = file.size()}};
}

using Containers = std::vector<StoredContainer>;

Result<Containers> read_cubin(const ElfHeaders& elf, ByteRange file, const std::string& name) {
  DSBUILD_TRY(target, cubin_target(elf, file));
  if (!target) return fail(Exit::failed, "bad_elf", name, "is a cubin of unknown architecture", "");
  return Containers{one_image(*target, file)};
}

// __nv_relfatbin is where relocatable device code (nvcc -rdc=true) stays.
bool holds_device_code(const ElfSectionHeader& section) {
  return section.name == ".nv_fatbin" || section.name == "__nv_relfatbin";
}

void append_to(Containers& to, Containers from) {
  std::ranges::move(from, std::back_inserter(to));
}

Result<Containers> read_elf_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  if (elf.machine == k_machine_cuda) return read_cubin(elf, file, name);
  Containers containers;
  uint64_t unread = file.size();
  for (const ElfSectionHeader& section : elf.sections) {
    if (!holds_device_code(section)) continue;
    if (section.stored_size > unread)
      return fail(Exit::failed, "bad_elf", name, "has sections that overlap", "");
    unread -= section.stored_size;
    DSBUILD_TRY(found, read_stored_containers(*file.part(section.offset, section.stored_size), name));
    append_to(containers, std::move(found));
  }
  return containers;
}

Result<bool> begins_as_elf(ByteRange file) {
  DSBUILD_TRY(start, file.read(0, 4));
  return is_elf(as_bytes_of(start));
}

Result<Containers> read_archive_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(members, archive_members(file, name));
  Containers containers;
  for (const ByteRange& member : members) {
    DSBUILD_TRY(is_object, begins_as_elf(member));
    if (!is_object) continue;
    DSBUILD_TRY(found, read_elf_code(member, name));
    append_to(containers, std::move(found));
  }
  return containers;
}

// Sections of machine code and of variables.
bool holds_code_or_data(const ElfSectionHeader& section) {
  const auto begins = [&](std::string_view beginning) { return section.name.starts_with(beginning); };
  return begins(".text") || begins(".nv.global") || begins(".nv.constant") || begins(".nv.shared");
}

// An image that cannot be read is none that is known to be empty.
bool is_empty_image(const StoredImage& stored) {
  if (stored.is_tile_ir || stored.image.target.is_virtual() || stored.size > k_largest_empty_image)
    return false;
  const auto bytes = unpack_image(stored, "");
  if (!bytes) return false;
  const auto elf = read_elf_headers(MemoryBytes(as_bytes_of(*bytes)), "");
  return elf && std::ranges::none_of(elf->sections, holds_code_or_data);
}

DeviceCode device_code_of(const Containers& containers) {
  DeviceCode code;
  for (const StoredContainer& stored : containers) {
    FatbinContainer container = container_of(stored);
    container.is_empty = !stored.empty() && std::ranges::all_of(stored, is_empty_image);
    std::ranges::copy(container.images, std::back_inserter(code.images));
    std::ranges::copy(container.tile_images, std::back_inserter(code.tile_images));
    code.containers.push_back(std::move(container));
  }
  return code;
}

void add_symbols(BinaryFile& to, const ElfFile& elf) {
  if (elf.machine == k_machine_cuda) return;
  std::ranges::move(elf_exports(elf), std::back_inserter(to.exports));
  std::ranges::move(elf_needed(elf), std::back_inserter(to.needed));
  std::ranges::move(elf_wanted_versions(elf), std::back_inserter(to.wanted_versions));
}

Result<void> add_symbols_of_members(BinaryFile& to, Bytes file, const std::string& name) {
  const MemoryBytes source(file);
  DSBUILD_TRY(members, archive_members(source, name));
  for (const ByteRange& member : members) {
    const Bytes bytes = file.subspan(static_cast<size_t>(member.begin()), static_cast<size_t>(member.size()));
    if (!is_elf(bytes)) continue;
    DSBUILD_TRY(elf, read_elf(bytes, name));
    add_symbols(to, elf);
  }
  std::ranges::sort(to.exports);
  const auto twins = std::ranges::unique(to.exports);
  to.exports.erase(twins.begin(), twins.end());
  return {};
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

Result<std::vector<StoredContainer>> read_stored_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(start, file.read(0, k_start_of_text));
  const Bytes bytes = as_bytes_of(start);
  if (is_elf(bytes)) return read_elf_code(file, name);
  if (is_archive(bytes)) return read_archive_code(file, name);
  if (is_fatbin(bytes)) return read_stored_containers(file, name);
  if (const auto target = ptx_target(start)) return Containers{one_image(*target, file)};
  return fail(Exit::failed, "bad_elf", name, "is no object, library, archive, fatbin, cubin or PTX",
              "Give a file that nvcc or a linker made.");
}

Result<DeviceCode> read_device_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(containers, read_stored_code(file, name));
  return device_code_of(containers);
}

ArchSet archs_of(const DeviceCode& code) {
  ArchSet set;
  for (const DeviceImage& image : code.images)
    set.insert(image.target);
  return set;
}

std::vector<ArchSet> modules_of(const DeviceCode& code) {
  std::vector<ArchSet> modules;
  for (const FatbinContainer& container : code.containers) {
    modules.emplace_back();
    if (container.is_empty) continue;
    for (const DeviceImage& image : container.images)
      modules.back().insert(image.target);
  }
  return modules;
}

Result<BinaryFile> read_binary(Bytes file, const std::string& name) {
  const MemoryBytes source(file);
  DSBUILD_TRY(code, read_device_code(source, name));
  BinaryFile binary{std::move(code), {}, {}, {}};
  if (is_archive(file)) {
    DSBUILD_CHECK(add_symbols_of_members(binary, file, name));
  } else if (is_elf(file)) {
    DSBUILD_TRY(elf, read_elf(file, name));
    add_symbols(binary, elf);
  }
  return binary;
}

}  // namespace dsbuild
