#include "binary/offload_bundle.h"

#include <algorithm>

#include "arch/amd.h"
#include "base/compress.h"
#include "base/digest.h"
#include "base/text.h"
#include "binary/bytes.h"
#include "binary/code_object.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view k_packed_magic = "CCOB";
constexpr uint64_t k_page = 4096;
constexpr uint64_t k_entry_size = 24;      // in front of its name
constexpr uint64_t k_most_entries = 1024;  // clang knows some 60 targets
constexpr uint64_t k_longest_id = 1024;
constexpr std::string_view k_known_bundles = "the bundles of HIP that clang 16 to 22 writes";

constexpr uint64_t to_page(uint64_t size) {
  return (size + k_page - 1) / k_page * k_page;
}

void append_number(std::string& to, uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    to += static_cast<char>(number >> shift & 0xff);
}

struct BundleEntryHeader {
  uint64_t offset = 0;  // from the bundle's beginning
  uint64_t size = 0;
  std::string id;
};

struct BundleHeader {
  std::vector<BundleEntryHeader> entries;
  uint64_t size = 0;  // with all that the entries have: no field says it
};

Result<BundleHeader> read_header(ByteRange bundle, const std::string& name) {
  DSBUILD_TRY(start, bundle.read(0, k_bundle_magic.size() + 8));
  if (start.size() < k_bundle_magic.size() + 8 || !start.starts_with(k_bundle_magic))
    return bad_device_code(name, "no bundle starts where one should");
  const auto count = load<uint64_t>(as_bytes_of(start), k_bundle_magic.size());
  if (count > k_most_entries) return bad_device_code(name, "a bundle says that it has more entries than fit");
  BundleHeader header{{}, start.size()};
  for (uint64_t i = 0; i < count; ++i) {
    DSBUILD_TRY(fields, bundle.read(header.size, k_entry_size));
    if (fields.size() < k_entry_size) return bad_device_code(name, "a bundle is cut off in its entries");
    const Bytes bytes = as_bytes_of(fields);
    const auto id_size = load<uint64_t>(bytes, 16);
    if (id_size > k_longest_id) return bad_device_code(name, "a bundle's entry has an impossible name");
    DSBUILD_TRY(id, bundle.read(header.size + k_entry_size, id_size));
    if (id.size() < id_size) return bad_device_code(name, "a bundle is cut off in its entries");
    header.entries.push_back({load<uint64_t>(bytes, 0), load<uint64_t>(bytes, 8), printable(id)});
    header.size += k_entry_size + id_size;
  }
  return header;
}

// One behind the other and inside of what there is.
Result<void> place_entries(BundleHeader& header, ByteRange bundle, const std::string& name) {
  for (const BundleEntryHeader& entry : header.entries) {
    if (entry.size == 0) continue;
    if (entry.offset < header.size) return bad_device_code(name, "the entries of a bundle overlap");
    if (!bundle.holds(entry.offset, entry.size))
      return bad_device_code(name, "the entry " + entry.id + " is larger than what holds it");
    header.size = entry.offset + entry.size;
  }
  return {};
}

bool is_host(std::string_view id) {
  return id.starts_with("host-");
}

// "hipv4-amdgcn-amd-amdhsa--gfx9-4-generic" -> gfx9-4-generic; "hip" before version 4 of code objects. The
// triple has three parts or four.
std::optional<std::string_view> hip_target_id(std::string_view id) {
  for (const std::string_view kind : {"hipv4-", "hip-"}) {
    if (!id.starts_with(kind)) continue;
    id.remove_prefix(kind.size());
    constexpr std::string_view k_triple = "amdgcn-amd-amdhsa-";
    const size_t target = id.find("gfx");
    if (!id.starts_with(k_triple) || target == std::string_view::npos || id[target - 1] != '-')
      return std::nullopt;
    return id.substr(target);
  }
  return std::nullopt;
}

// What the image says that it is for, which is what its entry must be called.
Result<Target> image_target(const std::string& id, ByteRange image, const std::string& name) {
  const auto target_id = hip_target_id(id);
  if (!target_id) return unknown_device_code(name, "an entry " + id, std::string(k_known_bundles));
  DSBUILD_TRY(elf, read_elf_headers(image, name + ": " + id));
  if (elf.machine != k_machine_amdgpu)
    return bad_device_code(name, "the entry " + id + " is for machine " + std::to_string(elf.machine));
  DSBUILD_TRY(target, code_object_target(elf, name));
  if (amd().parse_name(*target_id) != target)
    return bad_device_code(name, "the entry " + id + " holds code for " + target.name());
  return target;
}

// The images of a bundle that is not compressed, in it.
struct BundleImages {
  StoredContainer images;
  uint64_t size = 0;  // of the bundle
};

Result<BundleImages> read_bundle(ByteRange bundle, const std::string& name) {
  DSBUILD_TRY(header, read_header(bundle, name));
  DSBUILD_CHECK(place_entries(header, bundle, name));
  BundleImages found{{}, header.size};
  for (const BundleEntryHeader& entry : header.entries) {
    if (is_host(entry.id) || entry.size == 0) continue;
    const ByteRange image = *bundle.part(entry.offset, entry.size);
    DSBUILD_TRY(start, image.read(0, 4));
    if (is_bitcode(start)) continue;
    DSBUILD_TRY(target, image_target(entry.id, image, name));
    found.images.push_back(whole_image(target, image));
  }
  return found;
}

// The header in front of a compressed bundle, of all its versions.
struct PackedHeader {
  uint64_t header_size = 0;
  std::optional<uint64_t> packed_size;  // header and all; version 1 does not say it
  uint64_t unpacked_size = 0;
  std::string hash;  // the first 8 bytes of the bundle's MD5
  Packing packing = Packing::none;
};

Result<PackedHeader> read_packed_header(ByteRange bundle, const std::string& name) {
  DSBUILD_TRY(text, bundle.read(0, 32));
  const Bytes bytes = as_bytes_of(text);
  constexpr uint64_t k_sizes[] = {20, 24, 32};
  const unsigned version = bytes.size() < 8 ? 0 : load<uint16_t>(bytes, 4);
  const unsigned method = bytes.size() < 8 ? 0 : load<uint16_t>(bytes, 6);
  if (version < 1 || version > std::size(k_sizes))
    return unknown_device_code(name, "a compressed bundle of version " + std::to_string(version),
                               std::string(k_known_bundles));
  if (method > 1)
    return unknown_device_code(name, "a bundle compressed by method " + std::to_string(method),
                               std::string(k_known_bundles));
  PackedHeader header;
  header.header_size = k_sizes[version - 1];
  header.packing = method == 0 ? Packing::zlib : Packing::zstd;
  if (bytes.size() < header.header_size) return bad_device_code(name, "a compressed bundle is cut off");
  if (version == 3) {
    header.packed_size = load<uint64_t>(bytes, 8);
    header.unpacked_size = load<uint64_t>(bytes, 16);
  } else {
    if (version == 2) header.packed_size = load<uint32_t>(bytes, 8);
    header.unpacked_size = load<uint32_t>(bytes, version == 2 ? 12 : 8);
  }
  header.hash = text.substr(static_cast<size_t>(header.header_size) - 8, 8);
  if (header.packed_size && *header.packed_size < header.header_size)
    return bad_device_code(name, "a compressed bundle has an impossible size");
  return header;
}

// What is compressed, behind its header. Version 1 does not say where it ends; what is compressed does.
Result<ByteRange> packed_content(const PackedHeader& header, ByteRange bundle, const std::string& name) {
  std::optional<ByteRange> content;
  if (header.packed_size) {
    content = bundle.part(header.header_size, *header.packed_size - header.header_size);
  } else if (header.unpacked_size <= k_largest_image) {
    DSBUILD_TRY(rest, bundle.read(header.header_size, bundle.size()));
    const auto size = header.packing == Packing::zstd
                          ? zstd_frame_size(rest)
                          : zlib_stream_size(rest, static_cast<size_t>(header.unpacked_size));
    if (size) content = bundle.part(header.header_size, *size);
  }
  if (!content) return bad_device_code(name, "a compressed bundle is cut off");
  return *content;
}

Result<BundleImages> read_packed_bundle(ByteRange bundle, const std::string& name) {
  DSBUILD_TRY(header, read_packed_header(bundle, name));
  DSBUILD_TRY(content, packed_content(header, bundle, name));
  DSBUILD_TRY(unpacked, unpack_content(content, header.packing, header.unpacked_size, name));
  if (!md5(unpacked).starts_with(header.hash))
    return bad_device_code(name, "a compressed bundle is not what its checksum says");
  const MemoryBytes memory(as_bytes_of(unpacked));
  DSBUILD_TRY(inner, read_bundle(memory, name));
  const uint64_t size = header.header_size + content.size();
  return BundleImages{packed_images(inner.images, content, header.packing, header.unpacked_size, size), size};
}

// The next place where a bundle may start; zeros between.
Result<uint64_t> next_bundle(ByteRange section, uint64_t at) {
  while (at < section.size()) {
    const uint64_t until = at % k_page == 0 ? at + k_page : to_page(at);
    DSBUILD_TRY(piece, section.read(at, until - at));
    if (std::ranges::any_of(piece, [](char c) { return c != '\0'; })) return at;
    at = until;
  }
  return section.size();
}

}  // namespace

bool is_offload_bundle(Bytes bytes) {
  return as_text(bytes).starts_with(k_bundle_magic) || as_text(bytes).starts_with(k_packed_magic);
}

Result<std::vector<StoredContainer>> read_stored_bundles(ByteRange section, const std::string& name) {
  std::vector<StoredContainer> containers;
  DSBUILD_TRY(first, next_bundle(section, 0));
  for (uint64_t at = first; at < section.size();) {
    if (at % k_page != 0) return bad_device_code(name, "there is something between its bundles");
    const ByteRange rest = *section.part(at, section.size() - at);
    DSBUILD_TRY(start, rest.read(0, k_packed_magic.size()));
    auto found = start == k_packed_magic ? read_packed_bundle(rest, name) : read_bundle(rest, name);
    if (!found) return tl::unexpected<Error>(std::move(found.error()));
    containers.push_back(std::move(found->images));
    DSBUILD_TRY(next, next_bundle(section, at + found->size));
    at = next;
  }
  return containers;
}

std::string write_offload_bundle(const std::vector<BundleEntry>& entries) {
  std::string header(k_bundle_magic), code;
  uint64_t header_size = k_bundle_magic.size() + 8;
  for (const BundleEntry& entry : entries)
    header_size += k_entry_size + entry.id.size();
  append_number(header, entries.size());
  for (const BundleEntry& entry : entries) {
    const uint64_t offset = to_page(header_size + code.size());
    // An entry without code stands where the next one begins, and takes no place.
    if (!entry.code.empty()) code.resize(static_cast<size_t>(offset - header_size));
    append_number(header, offset);
    append_number(header, entry.code.size());
    append_number(header, entry.id.size());
    header += entry.id;
    code += entry.code;
  }
  return header + code;
}

std::string bundle_entry_id(std::string_view word, int clang) {
  constexpr int k_first_padded = 17;
  constexpr auto k_dashes = 5;  // kind-arch-vendor-system-environment-target
  std::string id(word);
  for (auto dashes = std::ranges::count(word, '-'); clang >= k_first_padded && dashes < k_dashes; ++dashes)
    id += '-';
  return id;
}

}  // namespace dsbuild
