#include "binary/fatbin.h"

#include <algorithm>

#include "binary/bytes.h"

namespace dsbuild {
namespace {

// docs/internals/fatbin.md tells where each number was seen.
constexpr uint32_t k_container_magic = 0xba55ed50;
constexpr size_t k_container_header_size = 16;
constexpr size_t k_entry_header_size =
    64;  // the part that every entry has; its own size field says how much more
constexpr uint64_t k_alignment = 8;

constexpr uint16_t k_kind_ptx = 1;
constexpr uint16_t k_kind_elf = 2;
constexpr uint16_t k_kind_nvvm = 8;  // for link-time optimisation: nothing that a GPU or a driver takes
constexpr uint16_t k_kind_tile_ir = 0x80;
constexpr uint16_t k_kind_concatenated = 0x100;

constexpr uint64_t k_flag_lz4 = 0x2000;
constexpr uint64_t k_flag_zstd = 0x8000;
constexpr uint64_t k_flag_suffix_a = 0x100000;
constexpr uint64_t k_flag_suffix_f = 0x200000;

tl::unexpected<Error> unknown_kind(const std::string& name, uint16_t kind) {
  return unknown_device_code(name, "an entry of kind " + std::to_string(kind),
                             "what CUDA 11.8 to 13.5 writes");
}

struct EntryHeader {
  uint16_t kind = 0;
  uint32_t header_size = 0;
  uint64_t payload_size = 0;
  uint32_t packed_size = 0;     // of the payload, when compressed: without padding
  uint32_t options_offset = 0;  // in a concatenated entry: of its table
  uint32_t arch = 0;            // 90 for sm_90
  uint64_t flags = 0;
  uint64_t unpacked_size = 0;  // when compressed
  Packing packing() const {
    if (flags & k_flag_lz4) return Packing::lz4;
    return flags & k_flag_zstd ? Packing::zstd : Packing::none;
  }
  bool is_compressed() const { return packing() != Packing::none; }
};

EntryHeader load_entry_header(Bytes bytes) {
  return {.kind = load<uint16_t>(bytes, 0),
          .header_size = load<uint32_t>(bytes, 4),
          .payload_size = load<uint64_t>(bytes, 8),
          .packed_size = load<uint32_t>(bytes, 16),
          .options_offset = load<uint32_t>(bytes, 20),
          .arch = load<uint32_t>(bytes, 28),
          .flags = load<uint64_t>(bytes, 40),
          .unpacked_size = load<uint64_t>(bytes, 56)};
}

struct Entry {
  EntryHeader fields;
  std::string header;  // all of it
  ByteRange payload;
};

Suffix suffix_of(uint64_t flags) {
  if (flags & k_flag_suffix_a) return Suffix::a;
  return flags & k_flag_suffix_f ? Suffix::f : Suffix::none;
}

// What an entry stores, by these fields of its own or of a record in it. Its size is that of the entry.
Result<StoredImage> stored_image(const EntryHeader& fields, const Entry& entry, const std::string& name) {
  if (fields.kind != k_kind_ptx && fields.kind != k_kind_elf && fields.kind != k_kind_tile_ir)
    return unknown_kind(name, fields.kind);
  if (!is_arch_number(fields.arch))
    return bad_device_code(name, "an entry is for the unknown architecture " + std::to_string(fields.arch));
  const CodeKind kind = fields.kind == k_kind_ptx ? CodeKind::ptx : CodeKind::real;
  const EntryHeader& stored = entry.fields;
  const auto packed = entry.payload.part(0, stored.packed_size);
  const bool is_compressed = stored.is_compressed();
  if (is_compressed && !packed) return bad_device_code(name, "an entry is larger than its container");
  const uint64_t unpacked = is_compressed ? stored.unpacked_size : entry.payload.size();
  return StoredImage{
      .image = {.target = NvidiaTarget{cc_of_arch_number(fields.arch), suffix_of(fields.flags), kind},
                .bytes = entry.payload.size(),
                .compressed = is_compressed},
      .is_tile_ir = fields.kind == k_kind_tile_ir,
      .is_relocatable = false,
      .content = is_compressed ? *packed : entry.payload,
      .packing = stored.packing(),
      .unpacked_size = unpacked,
      .begin = 0,
      .size = unpacked};
}

// A record of a concatenated entry: the header that the image would have as an entry of its own, but with the
// image's place in the unpacked payload where that header has sizes.
struct Record {
  EntryHeader fields;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size = 0;  // of the record itself, a multiple of 8
};

// A record does not say how long it is: behind the part that all have come a name and options (for machine
// code a table of capabilities), where it has them, each with a byte more. Nullopt where they cannot lie
// there.
std::optional<uint64_t> record_size(Bytes from) {
  uint64_t end = k_entry_header_size;
  const uint64_t name = load<uint32_t>(from, 32), name_size = load<uint32_t>(from, 36);
  if (name_size > 0) {
    if (name < k_entry_header_size) return std::nullopt;
    end = name + name_size + 1;
  }
  const uint64_t options = load<uint32_t>(from, 20);
  if (options > 0) {
    if (options < k_entry_header_size || !slice(from, options, 8)) return std::nullopt;
    const uint64_t text = load<uint32_t>(from, options), text_size = load<uint32_t>(from, options + 4);
    end = std::max({end, options + 8, text + text_size + 1});
  }
  if (aligned(end, k_alignment) > from.size()) return std::nullopt;
  return aligned(end, k_alignment);
}

std::optional<Record> load_record(Bytes from) {
  if (from.size() < k_entry_header_size) return std::nullopt;
  const auto size = record_size(from);
  if (!size) return std::nullopt;
  const uint64_t begin = load<uint32_t>(from, 4);
  return Record{load_entry_header(from), begin, begin + load<uint32_t>(from, 8), *size};
}

// Number of records, bytes of the table with these two numbers, the records.
constexpr size_t k_table_start_size = 8;

Result<std::vector<Record>> load_records(const Entry& entry, const std::string& name) {
  const uint64_t offset = entry.fields.options_offset;
  const Bytes header = as_bytes_of(entry.header);
  const auto start = slice(header, offset, k_table_start_size);
  if (offset < k_entry_header_size || !start)
    return bad_device_code(name, "a concatenated entry has no table of its images");
  const auto count = load<uint32_t>(*start, 0), table_size = load<uint32_t>(*start, 4);
  const auto table = slice(header, offset, table_size);
  if (count == 0 || table_size < k_table_start_size || !table)
    return bad_device_code(name, "a concatenated entry's table of images has an impossible size");
  Bytes rest = table->subspan(k_table_start_size);
  std::vector<Record> records;
  for (uint32_t i = 0; i < count; ++i) {
    const auto record = load_record(rest);
    if (!record) return bad_device_code(name, "a record of a concatenated entry is cut off");
    records.push_back(*record);
    rest = rest.subspan(static_cast<size_t>(record->size));
  }
  if (!rest.empty()) return bad_device_code(name, "a concatenated entry's table is larger than its records");
  return records;
}

// One behind the other, inside of what is unpacked.
Result<void> check_places(const std::vector<Record>& records, uint64_t unpacked, const std::string& name) {
  uint64_t taken = 0;
  for (const Record& record : records) {
    if (record.begin < taken) return bad_device_code(name, "the images of a concatenated entry overlap");
    if (record.end > unpacked)
      return bad_device_code(name, "an image of a concatenated entry is larger than the entry");
    taken = record.end;
  }
  return {};
}

// The images of a concatenated entry (nvcc --concat): compressed together, a record each.
Result<void> add_records(const Entry& entry, const std::string& name, std::vector<StoredImage>& images) {
  DSBUILD_TRY(records, load_records(entry, name));
  const uint64_t stored = entry.payload.size();
  const uint64_t unpacked = entry.fields.is_compressed() ? entry.fields.unpacked_size : stored;
  DSBUILD_CHECK(check_places(records, unpacked, name));
  std::vector<uint64_t> sizes;
  for (const Record& record : records)
    sizes.push_back(record.end - record.begin);
  const std::vector<uint64_t> shares = shares_of(stored, sizes);
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].fields.kind == k_kind_nvvm) continue;
    DSBUILD_TRY(image, stored_image(records[i].fields, entry, name));
    image.image.bytes = shares[i];
    image.begin = records[i].begin;
    image.size = records[i].end - records[i].begin;
    images.push_back(image);
  }
  return {};
}

Result<void> add_entry(const Entry& entry, const std::string& name, std::vector<StoredImage>& images) {
  if (entry.fields.kind == k_kind_nvvm) return {};
  if (entry.fields.kind == k_kind_concatenated) return add_records(entry, name, images);
  DSBUILD_TRY(image, stored_image(entry.fields, entry, name));
  images.push_back(image);
  return {};
}

// The entry that the bytes begin with.
Result<Entry> read_entry(ByteRange entries, const std::string& name) {
  DSBUILD_TRY(header, entries.read(0, k_entry_header_size));
  if (header.size() < k_entry_header_size) return bad_device_code(name, "an entry is cut off");
  const EntryHeader fields = load_entry_header(as_bytes_of(header));
  if (fields.header_size < k_entry_header_size || fields.header_size > entries.size())
    return bad_device_code(name, "an entry's header has an impossible size");
  const auto payload = entries.part(fields.header_size, fields.payload_size);
  if (!payload) return bad_device_code(name, "an entry is larger than its container");
  DSBUILD_TRY(rest, entries.read(k_entry_header_size, fields.header_size - k_entry_header_size));
  return Entry{fields, std::move(header) + rest, *payload};
}

Result<StoredContainer> read_entries(ByteRange entries, const std::string& name) {
  StoredContainer images;
  uint64_t at = 0;
  while (at < entries.size()) {
    DSBUILD_TRY(entry, read_entry(*entries.part(at, entries.size() - at), name));
    DSBUILD_CHECK(add_entry(entry, name, images));
    at += entry.header.size() + entry.payload.size();
  }
  return images;
}

// Containers start at multiples of 8; the linker fills the space between them with zeros.
Result<uint64_t> next_container(ByteRange section, uint64_t at) {
  constexpr size_t k_piece = 4096;
  at = aligned(at, k_alignment);
  while (true) {
    DSBUILD_TRY(piece, section.read(at, k_piece));
    const Bytes bytes = as_bytes_of(piece);
    for (size_t i = 0; i + k_alignment <= bytes.size(); i += k_alignment)
      if (load<uint64_t>(bytes, i) != 0) return at + i;
    at += piece.size() / k_alignment * k_alignment;
    if (piece.size() < k_piece) return at;
  }
}

}  // namespace

bool is_fatbin(Bytes bytes) {
  return bytes.size() >= k_container_header_size && load<uint32_t>(bytes, 0) == k_container_magic;
}

// Of a section, in file order.
Result<std::vector<StoredContainer>> read_stored_containers(ByteRange section, const std::string& name) {
  std::vector<StoredContainer> containers;
  DSBUILD_TRY(first, next_container(section, 0));
  uint64_t at = first;
  while (at + k_alignment <= section.size()) {
    DSBUILD_TRY(header, section.read(at, k_container_header_size));
    const Bytes bytes = as_bytes_of(header);
    if (!is_fatbin(bytes)) return bad_device_code(name, "no container starts where one should");
    const auto header_size = load<uint16_t>(bytes, 6);
    const auto entries_size = load<uint64_t>(bytes, 8);
    if (header_size < k_container_header_size)
      return bad_device_code(name, "a container's header is too small");
    const auto entries = section.part(at + header_size, entries_size);
    if (!entries) return bad_device_code(name, "a container is larger than what holds it");
    DSBUILD_TRY(images, read_entries(*entries, name));
    containers.push_back(std::move(images));
    DSBUILD_TRY(next, next_container(section, at + header_size + entries_size));
    at = next;
  }
  return containers;
}

Result<std::vector<DeviceContainer>> read_fatbins(ByteRange section, const std::string& name) {
  DSBUILD_TRY(stored, read_stored_containers(section, name));
  std::vector<DeviceContainer> containers;
  for (const StoredContainer& each : stored)
    containers.push_back(container_of(each));
  return containers;
}

}  // namespace dsbuild
