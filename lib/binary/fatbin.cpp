#include "binary/fatbin.h"

#include <algorithm>

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
constexpr uint16_t k_kind_nvvm = 8;  // for link-time optimisation: nothing that a GPU or a driver takes
constexpr uint16_t k_kind_tile_ir = 0x80;
constexpr uint16_t k_kind_concatenated = 0x100;

constexpr uint64_t k_flag_lz4 = 0x2000;
constexpr uint64_t k_flag_zstd = 0x8000;
constexpr uint64_t k_flag_suffix_a = 0x100000;
constexpr uint64_t k_flag_suffix_f = 0x200000;

tl::unexpected<Error> bad_fatbin(const std::string& name, const std::string& what) {
  return fail(Exit::failed, "bad_fatbin", name, "its device code is damaged: " + what,
              "Build the file again, or check how it was copied.");
}

// Passing such an entry over could leave out device code without a word.
tl::unexpected<Error> unknown_kind(const std::string& name, uint16_t kind) {
  return fail(
      Exit::failed, "bad_fatbin", name,
      "its device code has an entry of kind " + std::to_string(kind) + ", which dsbuild does not know",
      "dsbuild reads what CUDA 11.8 to 13.5 writes: use one of them, or a newer dsbuild.");
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
  bool is_compressed() const { return (flags & (k_flag_lz4 | k_flag_zstd)) != 0; }
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
  Bytes header;  // all of it
  Bytes payload;
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
    return bad_fatbin(name, "an entry is for the unknown architecture " + std::to_string(fields.arch));
  const CodeKind kind = fields.kind == k_kind_ptx ? CodeKind::ptx : CodeKind::real;
  const EntryHeader& stored = entry.fields;
  const bool is_zstd = (stored.flags & k_flag_zstd) != 0 && stored.packed_size <= entry.payload.size();
  return StoredImage{
      .image = {.target = NvidiaTarget{cc_of_arch_number(fields.arch), suffix_of(fields.flags), kind},
                .bytes = entry.payload.size(),
                .compressed = stored.is_compressed()},
      .is_tile_ir = fields.kind == k_kind_tile_ir,
      .content = entry.payload,
      .zstd_frame = is_zstd ? entry.payload.first(stored.packed_size) : Bytes(),
      .unpacked_bytes = stored.unpacked_size};
}

// A record of a concatenated entry: the header that the image would have as an entry of its own, but with the
// image's place in the unpacked payload where that header has sizes.
struct Record {
  EntryHeader fields;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size = 0;  // of the record itself, a multiple of 8
};

constexpr uint64_t aligned(uint64_t size) {
  return (size + k_alignment - 1) / k_alignment * k_alignment;
}

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
  if (aligned(end) > from.size()) return std::nullopt;
  return aligned(end);
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
  const auto start = slice(entry.header, offset, k_table_start_size);
  if (offset < k_entry_header_size || !start)
    return bad_fatbin(name, "a concatenated entry has no table of its images");
  const auto count = load<uint32_t>(*start, 0), table_size = load<uint32_t>(*start, 4);
  const auto table = slice(entry.header, offset, table_size);
  if (count == 0 || table_size < k_table_start_size || !table)
    return bad_fatbin(name, "a concatenated entry's table of images has an impossible size");
  Bytes rest = table->subspan(k_table_start_size);
  std::vector<Record> records;
  for (uint32_t i = 0; i < count; ++i) {
    const auto record = load_record(rest);
    if (!record) return bad_fatbin(name, "a record of a concatenated entry is cut off");
    records.push_back(*record);
    rest = rest.subspan(static_cast<size_t>(record->size));
  }
  if (!rest.empty()) return bad_fatbin(name, "a concatenated entry's table is larger than its records");
  return records;
}

// One behind the other, inside of what is unpacked.
Result<void> check_places(const std::vector<Record>& records, uint64_t unpacked, const std::string& name) {
  uint64_t taken = 0;
  for (const Record& record : records) {
    if (record.begin < taken) return bad_fatbin(name, "the images of a concatenated entry overlap");
    if (record.end > unpacked)
      return bad_fatbin(name, "an image of a concatenated entry is larger than the entry");
    taken = record.end;
  }
  return {};
}

// What each image is given of the bytes that the entry takes in the file: by its unpacked size, and no byte
// twice or to none.
std::vector<uint64_t> shares_of(uint64_t stored, const std::vector<Record>& records) {
  double total = 0, before = 0;
  for (const Record& record : records)
    total += static_cast<double>(record.end - record.begin);
  std::vector<uint64_t> shares;
  uint64_t given = 0;
  for (const Record& record : records) {
    before += static_cast<double>(record.end - record.begin);
    const double part = total > 0 ? before / total : 0;
    const auto until = static_cast<uint64_t>(static_cast<double>(stored) * part);
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

// The images of a concatenated entry (nvcc --concat): compressed together, a record each.
Result<void> add_records(const Entry& entry, const std::string& name, std::vector<StoredImage>& images) {
  DSBUILD_TRY(records, load_records(entry, name));
  const uint64_t stored = entry.payload.size();
  const uint64_t unpacked = entry.fields.is_compressed() ? entry.fields.unpacked_size : stored;
  DSBUILD_CHECK(check_places(records, unpacked, name));
  const std::vector<uint64_t> shares = shares_of(stored, records);
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].fields.kind == k_kind_nvvm) continue;
    DSBUILD_TRY(image, stored_image(records[i].fields, entry, name));
    image.image.bytes = shares[i];
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

Result<std::vector<StoredImage>> read_entries(Bytes entries, const std::string& name) {
  std::vector<StoredImage> images;
  while (!entries.empty()) {
    if (entries.size() < k_entry_header_size) return bad_fatbin(name, "an entry is cut off");
    const EntryHeader fields = load_entry_header(entries);
    if (fields.header_size < k_entry_header_size || fields.header_size > entries.size())
      return bad_fatbin(name, "an entry's header has an impossible size");
    const Bytes rest = entries.subspan(fields.header_size);
    if (fields.payload_size > rest.size()) return bad_fatbin(name, "an entry is larger than its container");
    const auto size = static_cast<size_t>(fields.payload_size);
    DSBUILD_CHECK(add_entry({fields, entries.first(fields.header_size), rest.first(size)}, name, images));
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
      (each.is_tile_ir ? containers[i].tile_images : containers[i].images).push_back(each.image);
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
