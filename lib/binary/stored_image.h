// What the readers of device code of all vendors share: images, and where in a file their bytes are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "binary/image.h"

namespace dsbuild {

enum class Packing { none, lz4, zstd, zlib };

// An image and where its bytes are, compressed or not. Images that are compressed together (nvcc --concat,
// clang --offload-compress) have all of it as their content, and are a part of what that is unpacked to.
struct StoredImage {
  DeviceImage image;
  bool is_tile_ir = false;
  bool is_relocatable = false;
  ByteRange content;  // without what fills it up
  Packing packing = Packing::none;
  uint64_t unpacked_size = 0;  // of the whole content
  uint64_t begin = 0;          // of the image in what is unpacked
  uint64_t size = 0;
};

using StoredContainer = std::vector<StoredImage>;
DeviceContainer container_of(const StoredContainer& stored);

// An image that is all of `bytes`, as they are.
StoredImage whole_image(const Target& target, ByteRange bytes);

// Divides the `stored` bytes of images that are compressed together, in proportion to their unpacked sizes.
// The shares add up to `stored`.
std::vector<uint64_t> shares_of(uint64_t stored, const std::vector<uint64_t>& unpacked);

// The images that were found in what `content` gives when it is unpacked, as parts of `content`; `stored` is
// what all of them take in the file.
StoredContainer packed_images(const StoredContainer& unpacked, ByteRange content, Packing packing,
                              uint64_t unpacked_size, uint64_t stored);

// No linker takes more than 2 GiB of a file's code, so no image is larger: what says so is damaged.
constexpr uint64_t k_largest_image = uint64_t{1} << 31;

// Unpacks `content` to `size` bytes. Errors: those of unpack_image.
Result<std::string> unpack_content(ByteRange content, Packing packing, uint64_t size,
                                   const std::string& name);

// The bytes of an image as they were before they were compressed. Exit 1 `bad_fatbin` where they are not what
// the file says, `io` where they cannot be read.
Result<std::string> unpack_image(const StoredImage& stored, const std::string& name);

// LLVM bitcode, for a device link: nothing that a GPU or a driver takes.
inline bool is_bitcode(std::string_view start) {
  return start.starts_with("BC\xc0\xde");
}

tl::unexpected<Error> bad_device_code(const std::string& name, const std::string& what);
// Passing it over could leave out device code without a word. `what`: "an entry of kind 9".
tl::unexpected<Error> unknown_device_code(const std::string& name, const std::string& what,
                                          const std::string& known);

// Those of a whole file of any sort that read_device_code knows; a bare image is a container of its own.
Result<std::vector<StoredContainer>> read_stored_code(ByteRange file, const std::string& name);

}  // namespace dsbuild
