#include "binary/stored_image.h"

#include "base/compress.h"
#include "base/text.h"
#include "binary/lz4.h"

namespace dsbuild {
namespace {

// Code never shrinks so much (zlib cannot): what says so is damaged, and would take memory for nothing.
constexpr uint64_t k_most_shrunk = 1032;

std::optional<std::string> unpack(const std::string& packed, Packing packing, size_t size) {
  switch (packing) {
    case Packing::lz4:
      return unpack_lz4(packed, size);
    case Packing::zstd:
      return decompress(packed, size);
    case Packing::zlib:
      return decompress_zlib(packed, size);
    case Packing::none:
      break;
  }
  return packed.size() == size ? std::optional(packed) : std::nullopt;
}

}  // namespace

DeviceContainer container_of(const StoredContainer& stored) {
  DeviceContainer container;
  for (const StoredImage& each : stored)
    (each.is_tile_ir ? container.tile_images : container.images).push_back(each.image);
  container.is_relocatable = !stored.empty() && stored.front().is_relocatable;
  return container;
}

StoredImage whole_image(const Target& target, ByteRange bytes) {
  return {.image = {.target = target, .bytes = bytes.size(), .compressed = false},
          .is_tile_ir = false,
          .is_relocatable = false,
          .content = bytes,
          .packing = Packing::none,
          .unpacked_size = bytes.size(),
          .begin = 0,
          .size = bytes.size()};
}

std::vector<uint64_t> shares_of(uint64_t stored, const std::vector<uint64_t>& unpacked) {
  double total = 0, before = 0;
  for (const uint64_t size : unpacked)
    total += static_cast<double>(size);
  std::vector<uint64_t> shares;
  uint64_t given = 0;
  for (const uint64_t size : unpacked) {
    before += static_cast<double>(size);
    const double part = total > 0 ? before / total : 0;
    const auto until = static_cast<uint64_t>(static_cast<double>(stored) * part);
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

StoredContainer packed_images(const StoredContainer& unpacked, ByteRange content, Packing packing,
                              uint64_t unpacked_size, uint64_t stored) {
  std::vector<uint64_t> sizes;
  for (const StoredImage& image : unpacked)
    sizes.push_back(image.size);
  const std::vector<uint64_t> shares = shares_of(stored, sizes);
  StoredContainer images;
  for (size_t i = 0; i < unpacked.size(); ++i)
    images.push_back({.image = {unpacked[i].image.target, shares[i], true},
                      .is_tile_ir = false,
                      .is_relocatable = false,
                      .content = content,
                      .packing = packing,
                      .unpacked_size = unpacked_size,
                      .begin = unpacked[i].content.begin(),
                      .size = unpacked[i].size});
  return images;
}

Result<std::string> unpack_content(ByteRange content, Packing packing, uint64_t size,
                                   const std::string& name) {
  if (size > k_largest_image || size / k_most_shrunk > content.size())
    return bad_device_code(name, "an image says that it has " + human_size(size) + " unpacked");
  DSBUILD_TRY(packed, content.read_all());
  auto unpacked = unpack(packed, packing, static_cast<size_t>(size));
  if (!unpacked) return bad_device_code(name, "an image cannot be decompressed");
  return std::move(*unpacked);
}

Result<std::string> unpack_image(const StoredImage& stored, const std::string& name) {
  if (stored.packing == Packing::none && stored.size <= k_largest_image)
    return stored.content.read(stored.begin, stored.size);
  DSBUILD_TRY(unpacked, unpack_content(stored.content, stored.packing, stored.unpacked_size, name));
  if (stored.size == stored.unpacked_size) return unpacked;
  return unpacked.substr(static_cast<size_t>(stored.begin), static_cast<size_t>(stored.size));
}

tl::unexpected<Error> bad_device_code(const std::string& name, const std::string& what) {
  return fail(Exit::failed, "bad_fatbin", name, "its device code is damaged: " + what,
              "Build the file again, or check how it was copied.");
}

tl::unexpected<Error> unknown_device_code(const std::string& name, const std::string& what,
                                          const std::string& known) {
  return fail(Exit::failed, "bad_fatbin", name,
              "its device code has " + what + ", which dsbuild does not know",
              "Use " + known + ", which dsbuild reads, or a newer dsbuild.");
}

}  // namespace dsbuild
