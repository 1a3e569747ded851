#include "binary/intel_image.h"

#include <algorithm>

#include "arch/intel.h"
#include "base/compress.h"
#include "base/text.h"
#include "binary/archive.h"
#include "binary/bytes.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_known_intel = "SPIR-V and what ocloc makes for the GPUs that dsbuild knows";
constexpr std::string_view k_zstd_magic = "\x28\xb5\x2f\xfd";

tl::unexpected<Error> unknown_image(const std::string& name, const std::string& what) {
  return unknown_device_code(name, what, std::string(k_known_intel));
}

// ---- devices

// The numbers of products in device binaries of the newer form, as ocloc 22.43 writes them.
struct Product {
  uint32_t number;
  std::string_view device;
};
constexpr Product k_products[] = {
    {0x10, "bdw"},      {0x12, "skl"},   {0x13, "kbl"},      {0x13, "aml"},      {0x14, "cfl"},
    {0x14, "whl"},      {0x14, "cml"},   {0x16, "apl"},      {0x17, "glk"},      {0x1a, "icllp"},
    {0x1b, "lkf"},      {0x1c, "ehl"},   {0x1d, "tgllp"},    {0x1e, "rkl"},      {0x1f, "adl-s"},
    {0x20, "adl-p"},    {0x21, "adl-n"}, {0x4ba, "dg1"},     {0x4f6, "dg2-g10"}, {0x4f6, "dg2-g11"},
    {0x4f6, "dg2-g12"}, {0x4f7, "pvc"},  {0x4f7, "pvc-sdv"},
};

// What machine code says itself that it is for: a number that several devices may have, and the first
// revision of the hardware.
struct Claim {
  std::string number;           // "core 0xc08"
  std::vector<Target> devices;  // that have it
  uint32_t revision = 0;
};

// The device whose own revision it is, else the first; in an archive what the member's name says, which must
// be one of them.
Result<Target> claimed_target(const Claim& claim, std::string_view member, const std::string& name) {
  if (claim.devices.empty()) return unknown_image(name, "code for Intel's " + claim.number);
  const auto has_revision = [&](const Target& device) {
    return static_cast<uint32_t>(intel_device(device).version.revision) == claim.revision;
  };
  const auto own = std::ranges::find_if(claim.devices, has_revision);
  const Target target = own == claim.devices.end() ? claim.devices.front() : *own;
  if (member.empty()) return target;
  const auto named = intel_target_of_member(member);
  if (!named) return unknown_image(name, "code for Intel's " + std::string(member));
  if (std::ranges::find(claim.devices, *named) == claim.devices.end())
    return bad_device_code(name, "the member " + std::string(member) + " (" + named->name() +
                                     ") holds code for " + target.name());
  return *named;
}

Claim claim_of_core(uint32_t core, uint32_t revision) {
  Claim claim{"core " + hex(core), {}, revision};
  for (const IntelDevice& device : intel_devices())
    if (device.core == core) claim.devices.push_back(intel_target(device));
  return claim;
}

Claim claim_of_product(uint32_t number, uint32_t revision) {
  Claim claim{"product " + hex(number), {}, revision};
  for (const Product& product : k_products)
    if (product.number == number) claim.devices.push_back(*intel().parse_name(product.device));
  return claim;
}

Claim claim_of_version(const IntelVersion& version) {
  Claim claim{version.text(), {}, static_cast<uint32_t>(version.revision)};
  if (const auto target = intel_target_of(version)) claim.devices.push_back(*target);
  return claim;
}

// "64.12.60.7": how wide its pointers are, and for what it is.
bool is_version(std::string_view member) {
  const std::vector<std::string> parts = split(member, ".");
  return parts.size() == 4 && std::ranges::all_of(parts, [](const std::string& part) {
           return whole_number<uint32_t>(part).has_value();
         });
}

// ---- SPIR-V

constexpr uint32_t k_spirv_magic = 0x07230203;
constexpr uint64_t k_spirv_header_size = 20;
constexpr uint32_t k_memory_model = 14;  // OpMemoryModel: how pointers are, what kind of memory

class SpirvWords {
 public:
  explicit SpirvWords(Bytes bytes)
      : bytes_(bytes), swapped_(bytes.size() >= 4 && load<uint32_t>(bytes, 0) != k_spirv_magic) {}
  bool has(uint64_t at) const { return slice(bytes_, at, 4).has_value(); }
  uint32_t at(uint64_t offset) const {
    const auto word = load<uint32_t>(bytes_, static_cast<size_t>(offset));
    return swapped_ ? word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24 : word;
  }

 private:
  Bytes bytes_;
  bool swapped_;
};

struct SpirvModule {
  Target target;
  uint64_t size = 0;
};

std::optional<Target> spirv_target(uint32_t addressing) {
  constexpr std::string_view k_names[] = {"", "spir", "spir64"};  // logical, 32 bits, 64 bits
  return addressing < std::size(k_names) ? intel().parse_name(k_names[addressing]) : std::nullopt;
}

// No field says how large it is; its instructions say how long each of them is. One of no words is filling,
// and no instruction begins as a module does.
Result<SpirvModule> read_spirv(Bytes bytes, const std::string& name) {
  const SpirvWords words(bytes);
  std::optional<uint32_t> addressing;
  uint64_t at = k_spirv_header_size;
  for (; words.has(at) && words.at(at) != 0 && words.at(at) != k_spirv_magic;) {
    const uint32_t instruction = words.at(at);
    const uint64_t size = uint64_t{instruction >> 16} * 4;
    if (size == 0 || !slice(bytes, at, size)) return bad_device_code(name, "SPIR-V ends in an instruction");
    if ((instruction & 0xffff) == k_memory_model && size > 4) addressing = words.at(at + 4);
    at += size;
  }
  if (at > bytes.size() || !addressing) return bad_device_code(name, "SPIR-V is cut off");
  const auto target = spirv_target(*addressing);
  if (!target) return unknown_image(name, "SPIR-V with addressing model " + std::to_string(*addressing));
  return SpirvModule{*target, at};
}

// ---- ELF files

constexpr uint16_t k_objects_type = 0xff02, k_executable_type = 0xff04;  // e_type of OpenCL's containers
constexpr uint32_t k_spirv_section = 0xff000009, k_binary_section = 0xff000005;
constexpr std::string_view k_notes = ".note.intelgt.compat";
constexpr std::string_view k_binary_magic = "CTNI";
constexpr uint64_t k_binary_header_size = 28;
constexpr uint64_t k_kernel_header_size = 40;

// The older form, in a section of its own: magic, version, core, size of pointers, number of kernels,
// stepping, size of what follows for the whole program; 4 bytes each.
Result<Claim> claim_of_binary(ByteRange binary, const std::string& name) {
  DSBUILD_TRY(header, binary.read(0, k_binary_header_size));
  if (header.size() < k_binary_header_size || !header.starts_with(k_binary_magic))
    return bad_device_code(name, "a device binary has no header");
  const Bytes bytes = as_bytes_of(header);
  return claim_of_core(load<uint32_t>(bytes, 8), load<uint32_t>(bytes, 20));
}

// The newer form says it in notes of "IntelGT": 1 the product, 3 the first revision (bits 8 to 12), 6 the
// version, where there is one.
Result<Claim> claim_of_notes(Bytes notes, const std::string& name) {
  constexpr uint64_t k_owner_size = 8;
  std::optional<uint32_t> product, revision, version;
  for (uint64_t at = 0; const auto head = slice(notes, at, 12 + k_owner_size);) {
    const auto size = load<uint32_t>(*head, 4), type = load<uint32_t>(*head, 8);
    if (load<uint32_t>(*head, 0) != k_owner_size || !slice(notes, at + head->size(), size))
      return bad_device_code(name, "its notes are cut off");
    const auto value = slice(notes, at + head->size(), 4);
    const std::optional<uint32_t> number = value ? std::optional(load<uint32_t>(*value, 0)) : std::nullopt;
    if (type == 1) product = number;
    if (type == 3 && number) revision = *number >> 8 & 31;
    if (type == 6) version = number;
    at += head->size() + (uint64_t{size} + 3) / 4 * 4;
  }
  if (version) return claim_of_version(IntelVersion::of(*version));
  if (!product) return bad_device_code(name, "a device binary does not say for what it is");
  return claim_of_product(*product, revision.value_or(0));
}

// `member`: its name in an archive where that is a version, else "".
Result<StoredContainer> read_versioned_elf(ByteRange file, std::string_view member, const std::string& name) {
  DSBUILD_TRY(elf, read_elf_headers(file, name));
  if (!is_intel_elf(elf)) return unknown_image(name, "an image for machine " + std::to_string(elf.machine));
  StoredContainer images;
  if (elf.machine == k_machine_intel_gpu) {
    const ElfSectionHeader* notes = elf.find(k_notes);
    DSBUILD_TRY(bytes, notes ? bytes_of(*notes, file).read_all() : Result<std::string>());
    DSBUILD_TRY(claim, claim_of_notes(as_bytes_of(bytes), name));
    DSBUILD_TRY(target, claimed_target(claim, member, name));
    images.push_back(whole_image(target, file));
  }
  uint64_t rest = file.size();  // without what is an image of its own
  for (const ElfSectionHeader& section : elf.sections) {
    if (section.type != k_binary_section && section.type != k_spirv_section) continue;
    if (section.stored_size > rest) return bad_device_code(name, "the images of a file overlap");
    rest -= section.stored_size;
    if (section.type == k_binary_section) {
      DSBUILD_TRY(claim, claim_of_binary(bytes_of(section, file), name));
      DSBUILD_TRY(target, claimed_target(claim, member, name));
      images.push_back(whole_image(target, bytes_of(section, file)));
    } else {
      DSBUILD_TRY(all, bytes_of(section, file).read_all());
      DSBUILD_TRY(spirv, read_spirv(as_bytes_of(all), name));
      images.push_back(whole_image(spirv.target, bytes_of(section, file)));
    }
  }
  if (elf.machine == k_machine_intel_gpu) images.front().image.bytes = rest;
  return images;
}

// ---- kernels

Result<std::vector<Kernel>> read_elf_kernels(Bytes image, const std::string& name) {
  constexpr std::string_view k_kernel_code = ".text.";
  DSBUILD_TRY(elf, read_elf(image, name));
  std::vector<Kernel> kernels;
  uint64_t name_bytes = 0;
  for (const ElfSection& section : elf.sections) {
    if (!section.name.starts_with(k_kernel_code)) continue;
    name_bytes += section.name.size();
    if (name_bytes > image.size()) return bad_device_code(name, "the names of an image's kernels overlap");
    kernels.push_back({.name = std::string(section.name.substr(k_kernel_code.size())),
                       .is_entry = true,
                       .bytes = section.size,
                       .resources = {}});
  }
  return kernels;
}

// A kernel's header: checksum and hash (12 bytes), then 4 bytes each: the sizes of its name, of what is to be
// patched, of four heaps, and of the code without what fills its heap up.
Result<std::vector<Kernel>> read_binary_kernels(Bytes image, const std::string& name) {
  const auto header = slice(image, 0, k_binary_header_size);
  if (!header) return bad_device_code(name, "a device binary has no header");
  const auto count = load<uint32_t>(*header, 16);
  uint64_t at = k_binary_header_size + load<uint32_t>(*header, 24);
  std::vector<Kernel> kernels;
  for (uint32_t i = 0; i < count; ++i) {
    const auto head = slice(image, at, k_kernel_header_size);
    const uint64_t name_size = head ? load<uint32_t>(*head, 12) : 0;
    const auto text = slice(image, at + k_kernel_header_size, name_size);
    if (!head || !text) return bad_device_code(name, "a device binary ends inside of its kernels");
    kernels.push_back({.name = std::string(as_text(*text).substr(0, as_text(*text).find('\0'))),
                       .is_entry = true,
                       .bytes = load<uint32_t>(*head, 36),
                       .resources = {}});
    at += k_kernel_header_size + name_size;
    for (size_t size = 16; size < 36; size += 4)
      at += load<uint32_t>(*head, size);
  }
  return kernels;
}

// ---- sequences

Result<StoredContainer> read_images(ByteRange image, const std::string& name);

Result<StoredContainer> read_archive(ByteRange file, const std::string& name) {
  DSBUILD_TRY(members, archive_members(file, name));
  StoredContainer images;
  for (const ArchiveMember& member : members) {
    DSBUILD_TRY(start, member.bytes.read(0, 4));
    if (!is_elf(as_bytes_of(start))) continue;
    DSBUILD_TRY(found, read_intel_member(member, name));
    std::ranges::move(found, std::back_inserter(images));
  }
  return images;
}

Result<StoredContainer> read_frame(ByteRange frame, const std::string& name) {
  DSBUILD_TRY(packed, frame.read_all());
  const auto size = zstd_content_size(packed);
  if (!size) return bad_device_code(name, "a compressed image does not say its size");
  DSBUILD_TRY(unpacked, unpack_content(frame, Packing::zstd, *size, name));
  if (unpacked.starts_with(k_zstd_magic)) return bad_device_code(name, "an image is compressed twice");
  const MemoryBytes memory(as_bytes_of(unpacked));
  DSBUILD_TRY(images, read_images(memory, name));
  return packed_images(images, frame, Packing::zstd, *size, frame.size());
}

// Of one image, whose kind its first bytes tell.
Result<StoredContainer> read_images(ByteRange image, const std::string& name) {
  DSBUILD_TRY(start, image.read(0, 8));
  const Bytes bytes = as_bytes_of(start);
  if (start.starts_with(k_zstd_magic)) return read_frame(image, name);
  if (is_elf(bytes)) return read_intel_elf(image, name);
  if (is_archive(bytes)) return read_archive(image, name);
  DSBUILD_TRY(all, image.read_all());
  DSBUILD_TRY(spirv, read_spirv(as_bytes_of(all), name));
  return StoredContainer{whole_image(spirv.target, image)};
}

// How large the image is that the bytes begin with.
Result<uint64_t> image_size(ByteRange from, Bytes bytes, const std::string& name) {
  if (is_spirv(bytes)) {
    DSBUILD_TRY(spirv, read_spirv(bytes, name));
    return spirv.size;
  }
  if (as_text(bytes).starts_with(k_zstd_magic)) {
    const auto size = zstd_frame_size(as_text(bytes));
    if (!size) return bad_device_code(name, "a compressed image is cut off");
    return *size;
  }
  if (is_elf(bytes)) return elf_size(from, name);
  if (is_archive(bytes)) return archive_size(from);
  std::string start;
  for (const unsigned char byte : as_text(bytes.first(std::min<size_t>(bytes.size(), 4))))
    start += (start.empty() ? "" : " ") + hex(byte);
  return unknown_image(name, "an image that begins with " + start);
}

uint64_t next_image(Bytes bytes, uint64_t at) {
  const std::string_view text = as_text(bytes);
  return std::min(text.find_first_not_of('\0', static_cast<size_t>(at)), text.size());
}

}  // namespace

bool is_spirv(Bytes bytes) {
  if (bytes.size() < k_spirv_header_size) return false;
  return SpirvWords(bytes).at(0) == k_spirv_magic;
}

bool is_intel_elf(const ElfKind& elf) {
  const bool is_container = elf.type == k_objects_type || elf.type == k_executable_type;
  return elf.machine == k_machine_intel_gpu || (elf.machine == 0 && is_container);
}

bool holds_sycl_images(std::string_view section) {
  constexpr std::string_view k_bundles = "__CLANG_OFFLOAD_BUNDLE__";
  return section.starts_with(k_bundles) && !section.substr(k_bundles.size()).starts_with("host-");
}

Result<StoredContainer> read_image_sequence(ByteRange section, const std::string& name) {
  DSBUILD_TRY(text, section.read_all());
  const Bytes bytes = as_bytes_of(text);
  StoredContainer images;
  if (is_bitcode(text)) return images;
  for (uint64_t at = next_image(bytes, 0); at < bytes.size();) {
    if (at % 4 != 0) return bad_device_code(name, "there is something between its images");
    const ByteRange rest = *section.part(at, section.size() - at);
    DSBUILD_TRY(size, image_size(rest, bytes.subspan(static_cast<size_t>(at)), name));
    const auto image = rest.part(0, size);
    if (size == 0 || !image) return bad_device_code(name, "an image is larger than what holds it");
    DSBUILD_TRY(found, read_images(*image, name));
    std::ranges::move(found, std::back_inserter(images));
    at = next_image(bytes, at + size);
  }
  return images;
}

Result<StoredContainer> read_intel_elf(ByteRange file, const std::string& name) {
  return read_versioned_elf(file, "", name);
}

Result<StoredContainer> read_intel_member(const ArchiveMember& member, const std::string& name) {
  return read_versioned_elf(member.bytes, is_version(member.name) ? member.name : "", name);
}

Result<std::vector<Kernel>> read_intel_kernels(Bytes image, const std::string& name) {
  return is_elf(image) ? read_elf_kernels(image, name) : read_binary_kernels(image, name);
}

}  // namespace dsbuild
