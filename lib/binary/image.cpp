#include "binary/image.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/text.h"
#include "binary/archive.h"
#include "binary/bytes.h"
#include "binary/code_object.h"
#include "binary/elf.h"
#include "binary/fatbin.h"
#include "binary/hip_wrappers.h"
#include "binary/intel_image.h"
#include "binary/offload_bundle.h"

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

using Containers = std::vector<StoredContainer>;

Result<Containers> read_cubin(const ElfHeaders& elf, ByteRange file, const std::string& name) {
  DSBUILD_TRY(target, cubin_target(elf, file));
  if (!target) return fail(Exit::failed, "bad_elf", name, "is a cubin of unknown architecture", "");
  return Containers{{whole_image(*target, file)}};
}

// An ELF file that is an image itself, of any vendor; nullopt for a host's.
Result<std::optional<Containers>> read_device_elf(const ElfHeaders& elf, ByteRange file,
                                                  const std::string& name) {
  if (elf.machine == k_machine_cuda) return read_cubin(elf, file, name);
  if (elf.machine == k_machine_amdgpu) {
    DSBUILD_TRY(target, code_object_target(elf, name));
    return Containers{{whole_image(target, file)}};
  }
  if (!is_intel_elf(elf)) return std::nullopt;
  DSBUILD_TRY(images, read_intel_elf(file, name));
  return Containers{std::move(images)};
}

void append_to(Containers& to, Containers from) {
  std::ranges::move(from, std::back_inserter(to));
}

constexpr std::string_view k_relocatable_section = "__nv_relfatbin";

// A section of device code.
enum class CodeSection { none, cuda, hip, sycl, unknown };

CodeSection section_kind(std::string_view name) {
  if (name == ".nv_fatbin" || name == k_relocatable_section) return CodeSection::cuda;
  if (name == ".hip_fatbin") return CodeSection::hip;
  if (name == ".llvm.offloading") return CodeSection::unknown;
  return holds_sycl_images(name) ? CodeSection::sycl : CodeSection::none;
}

Result<Containers> read_hip_section(const ElfHeaders& elf, ByteRange file, ByteRange section,
                                    const std::string& name) {
  DSBUILD_TRY(found, read_stored_bundles(section, name));
  DSBUILD_TRY(wrapped, count_wrapped_bundles(elf, file, name));
  // An object may have the images alone, and that of the host's code what hands them on
  // (lib/hip/bundle_step.h).
  const bool is_half = elf.type == k_relocatable && wrapped == 0;
  if (wrapped != found.size() && !is_half)
    return bad_device_code(name, "it has " + plural(found.size(), "bundle") +
                                     " of HIP, and hands the runtime " + std::to_string(wrapped));
  return found;
}

// A container for all images of SYCL: whatever is in one section, for one target, is in that for another too.
Result<Containers> read_host_elf(const ElfHeaders& elf, ByteRange file, const std::string& name) {
  Containers containers;
  StoredContainer sycl;
  uint64_t unread = file.size();
  for (const ElfSectionHeader& section : elf.sections) {
    const CodeSection kind = section_kind(section.name);
    if (kind == CodeSection::none || section.stored_size == 0) continue;
    if (kind == CodeSection::unknown)
      return unknown_device_code(name, "a section " + std::string(section.name),
                                 "the sections of nvcc, of clang for HIP and of SYCL's compilers");
    if (section.stored_size > unread)
      return fail(Exit::failed, "bad_elf", name, "has sections that overlap", "");
    unread -= section.stored_size;
    const ByteRange bytes = bytes_of(section, file);
    if (kind == CodeSection::sycl) {
      DSBUILD_TRY(images, read_image_sequence(bytes, name));
      std::ranges::move(images, std::back_inserter(sycl));
      continue;
    }
    auto found = kind == CodeSection::hip ? read_hip_section(elf, file, bytes, name)
                                          : read_stored_containers(bytes, name);
    if (!found) return found;
    for (StoredContainer& container : *found)
      for (StoredImage& image : container)
        image.is_relocatable = section.name == k_relocatable_section;
    append_to(containers, std::move(*found));
  }
  if (!sycl.empty()) containers.push_back(std::move(sycl));
  return containers;
}

Result<Containers> read_elf_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  DSBUILD_TRY(image, read_device_elf(elf, file, name));
  return image ? std::move(*image) : read_host_elf(elf, file, name);
}

// nullopt where a file does not begin as an ELF file does.
Result<std::optional<ElfHeaders>> elf_headers_of(ByteRange file, const std::string& name) {
  DSBUILD_TRY(start, file.read(0, 4));
  if (!is_elf(as_bytes_of(start))) return std::nullopt;
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  return elf;
}

// Of objects; and of images for several GPUs, which are one container, as ocloc puts them together.
Result<Containers> read_archive_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(members, archive_members(file, name));
  Containers containers;
  StoredContainer images;
  for (const ArchiveMember& member : members) {
    DSBUILD_TRY(elf, elf_headers_of(member.bytes, name));
    if (!elf) continue;
    if (is_intel_elf(*elf)) {
      DSBUILD_TRY(found, read_intel_member(member, name));
      std::ranges::move(found, std::back_inserter(images));
      continue;
    }
    DSBUILD_TRY(found, read_elf_code(member.bytes, name));
    append_to(containers, std::move(found));
  }
  if (!images.empty()) containers.push_back(std::move(images));
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
  return elf && elf->machine == k_machine_cuda && std::ranges::none_of(elf->sections, holds_code_or_data);
}

DeviceCode device_code_of(std::vector<DeviceContainer> containers) {
  DeviceCode code;
  for (const DeviceContainer& container : containers) {
    std::ranges::copy(container.images, std::back_inserter(code.images));
    std::ranges::copy(container.tile_images, std::back_inserter(code.tile_images));
  }
  code.containers = std::move(containers);
  return code;
}

DeviceCode device_code_of(const Containers& stored_containers) {
  std::vector<DeviceContainer> containers;
  for (const StoredContainer& stored : stored_containers) {
    containers.push_back(container_of(stored));
    containers.back().is_empty = !stored.empty() && std::ranges::all_of(stored, is_empty_image);
  }
  return device_code_of(std::move(containers));
}

bool is_device_elf(const ElfKind& elf) {
  return elf.machine == k_machine_cuda || elf.machine == k_machine_amdgpu || is_intel_elf(elf);
}

void add_symbols(BinaryFile& to, const ElfFile& elf) {
  if (is_device_elf(elf)) return;
  std::ranges::move(elf_exports(elf), std::back_inserter(to.exports));
  std::ranges::move(elf_needed(elf), std::back_inserter(to.needed));
  std::ranges::move(elf_wanted_versions(elf), std::back_inserter(to.wanted_versions));
}

Result<void> add_symbols_of_members(BinaryFile& to, Bytes file, const std::string& name) {
  const MemoryBytes source(file);
  DSBUILD_TRY(members, archive_members(source, name));
  for (const ArchiveMember& member : members) {
    const Bytes bytes =
        file.subspan(static_cast<size_t>(member.bytes.begin()), static_cast<size_t>(member.bytes.size()));
    if (!is_elf(bytes)) continue;
    DSBUILD_TRY(elf, read_elf(bytes, name));
    add_symbols(to, elf);
  }
  std::ranges::sort(to.exports);
  // Not std::ranges::unique, whose result clang 14 cannot take from gcc 12's library.
  to.exports.erase(std::unique(to.exports.begin(), to.exports.end()), to.exports.end());
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
  if (is_offload_bundle(bytes)) return read_stored_bundles(file, name);
  if (is_spirv(bytes)) {
    DSBUILD_TRY(images, read_image_sequence(file, name));
    return Containers{std::move(images)};
  }
  if (const auto target = ptx_target(start)) return Containers{{whole_image(*target, file)}};
  return fail(Exit::failed, "bad_elf", name,
              "is not an object, library, archive, fatbin, bundle, cubin, code object, "
              "device binary, SPIR-V or PTX",
              "Give a file that a linker or a GPU's compiler made.");
}

Result<DeviceCode> read_device_code(ByteRange file, const std::string& name) {
  DSBUILD_TRY(containers, read_stored_code(file, name));
  return device_code_of(containers);
}

void keep_loadable(DeviceCode& code) {
  std::erase_if(code.containers, std::mem_fn(&DeviceContainer::is_relocatable));
  code = device_code_of(std::move(code.containers));
}

ArchSet archs_of(const DeviceCode& code) {
  ArchSet set;
  for (const DeviceImage& image : code.images)
    set.insert(image.target);
  return set;
}

std::vector<ArchSet> modules_of(const DeviceCode& code) {
  std::vector<ArchSet> modules;
  for (const DeviceContainer& container : code.containers) {
    modules.emplace_back();
    if (container.is_empty || container.is_relocatable) continue;
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
