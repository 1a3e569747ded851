#include "binary/fatbin.h"
#include "binary/bytes.h"

namespace dsbuild {
namespace {

// docs/fatbin.md tells where each number was seen.
constexpr uint32_t k_container_magic = 0xba55ed50;
constexpr size_t k_container_header_size = 16;
constexpr size_t k_entry_header_size =
    64;  // the part that every entry has; its own size field says how much more
constexpr size_t k_alignment = 8;

constexpr uint16_t k_kind_ptx = 1;
constexpr uint16_t k_kind_elf = 2;

constexpr uint64_t k_flag_lz4 = 0x2000;
constexpr uint64_t k_flag_zstd = 0x8000;
constexpr uint64_t k_flag_suffix_a = 0x100000;
constexpr uint64_t k_flag_suffix_f = 0x200000;

tl::unexpected<Error> bad_fatbin(const std::string& name, const std::string& what) {
  return fail(Exit::failed, "bad_fatbin", name, "its device code is damaged: " + what,
              "Build the file again, or check how it was copied.");
}

struct EntryHeader {
  uint16_t kind = 0;
  uint32_t header_size = 0;
  uint64_t payload_size = 0;
  uint32_t packed_size = 0;  // of the payload, when compressed: without padding
  uint32_t arch = 0;         // 90 for sm_90
  uint64_t flags = 0;
  uint64_t unpacked_size = 0;  // when compressed
};

EntryHeader load_entry_header(Bytes bytes) {
  return {.kind = load<uint16_t>(bytes, 0),
          .header_size = load<uint32_t>(bytes, 4),
          .payload_size = load<uint64_t>(bytes, 8),
          .packed_size = load<uint32_t>(bytes, 16),
          .arch = load<uint32_t>(bytes, 28),
          .flags = load<uint64_t>(bytes, 40),
          .unpacked_size = load<uint64_t>(bytes, 56)};
}

Suffix suffix_of(uint64_t flags) {
  if (flags & k_flag_suffix_a) return Suffix::a;
  return flags & k_flag_suffix_f ? Suffix::f : Suffix::none;
}

DeviceImage image_of(const EntryHeader& entry) {
  const auto cc = cc_of_arch_number(entry.arch);
  const CodeKind kind = entry.kind == k_kind_ptx ? CodeKind::ptx : CodeKind::real;
  return {.target = NvidiaTarget{cc, suffix_of(entry.flags), kind},
          .bytes = entry.payload_size,
          .compressed = (entry.flags & (k_flag_lz4 | k_flag_zstd)) != 0};
}

StoredImage stored_image(const EntryHeader& entry, Bytes content) {
  const bool is_zstd = (entry.flags & k_flag_zstd) != 0 && entry.packed_size <= content.size();
  return {.image = image_of(entry),
          .content = content,
          .zstd_frame = is_zstd ? content.first(entry.packed_size) : Bytes(),
          .unpacked_bytes = entry.unpacked_size};
}

Result<std::vector<StoredImage>> read_entries(Bytes entries, const std::string& name) {
  std::vector<StoredImage> images;
  while (!entries.empty()) {
    if (entries.size() < k_entry_header_size) return bad_fatbin(name, "an entry is cut off");
    const EntryHeader entry = load_entry_header(entries);
    if (entry.header_size < k_entry_header_size || entry.header_size > entries.size()) {
      return bad_fatbin(name, "an entry's header has an impossible size");
    }
    const Bytes rest = entries.subspan(entry.header_size);
    if (entry.payload_size > rest.size()) return bad_fatbin(name, "an entry is larger than its container");
    const bool is_image = entry.kind == k_kind_ptx || entry.kind == k_kind_elf;
    if (is_image && !is_arch_number(entry.arch)) {
      return bad_fatbin(name, "an entry is for the unknown architecture " + std::to_string(entry.arch));
    }
    const auto size = static_cast<size_t>(entry.payload_size);
    if (is_image) images.push_back(stored_image(entry, rest.first(size)));
    entries = rest.subspan(size);
  }
  return images;
}

// Containers start at multiples of 8; the linker fills the space between them with zeros.
size_t next_container(Bytes section, size_t at) {
  at += (k_alignment - at % k_alignment) % k_alignment;
  while (at + k_alignment <= section.size() && load<uint64_t>(section, at) == 0)
    at += k_alignment;
  return at;
}

// Of a section, in file order.
Result<std::vector<std::vector<StoredImage>>> read_stored_containers(Bytes section, const std::string& name) {
  std::vector<std::vector<StoredImage>> containers;
  size_t at = next_container(section, 0);
  while (at + k_alignment <= section.size()) {
    const Bytes rest = section.subspan(at);
    if (!is_fatbin(rest)) return bad_fatbin(name, "no container starts where one should");
    const auto header_size = load<uint16_t>(rest, 6);
    const auto entries_size = load<uint64_t>(rest, 8);
    if (header_size < k_container_header_size) return bad_fatbin(name, "a container's header is too small");
    const auto entries = slice(rest, header_size, entries_size);
    if (!entries) return bad_fatbin(name, "a container is larger than what holds it");
    DSBUILD_TRY(images, read_entries(*entries, name));
    containers.push_back(std::move(images));
    at = next_container(section, at + header_size + static_cast<size_t>(entries_size));
  }
  return containers;
}

}  // namespace

bool is_fatbin(Bytes bytes) {
  return bytes.size() >= k_container_header_size && load<uint32_t>(bytes, 0) == k_container_magic;
}

Result<std::vector<FatbinContainer>> read_fatbins(Bytes section, const std::string& name) {
  DSBUILD_TRY(stored, read_stored_containers(section, name));
  std::vector<FatbinContainer> containers(stored.size());
  for (size_t i = 0; i < stored.size(); ++i)
    for (const StoredImage& each : stored[i])
      containers[i].push_back(each.image);
  return containers;
}

Result<std::vector<StoredImage>> read_stored_images(Bytes section, const std::string& name) {
  DSBUILD_TRY(containers, read_stored_containers(section, name));
  std::vector<StoredImage> images;
  for (const std::vector<StoredImage>& container : containers)
    images.insert(images.end(), container.begin(), container.end());
  return images;
}

}  // namespace dsbuild
