// What the readers of device code share.
#pragma once

#include "arch/nvidia.h"
#include "base/byte_source.h"
#include "binary/image.h"

namespace dsbuild {

bool is_fatbin(Bytes bytes);  // starts with a container

enum class Packing { none, lz4, zstd };

// An image and where its bytes are: as an entry of a container stores them, compressed or not. Images that
// one entry stores together (nvcc --concat) have all that the entry stores as their content, and are a part
// of what that is unpacked to.
struct StoredImage {
  DeviceImage image;
  bool is_tile_ir = false;
  ByteRange content;  // without what fills it up to a multiple of 8
  Packing packing = Packing::none;
  uint64_t unpacked_size = 0;  // of the whole content
  uint64_t begin = 0;          // of the image in what is unpacked
  uint64_t size = 0;
};

// The images of all containers of a section, those of Tile IR too, in file order; as read_fatbins
// (binary/image.h).
using StoredContainer = std::vector<StoredImage>;
Result<std::vector<StoredContainer>> read_stored_containers(ByteRange section, const std::string& name);
FatbinContainer container_of(const StoredContainer& stored);

// Those of a whole file of any sort that read_device_code knows; a bare cubin or PTX is one image.
Result<std::vector<StoredContainer>> read_stored_code(ByteRange file, const std::string& name);

// The bytes of an image as they were before they were compressed. Exit 1 `bad_fatbin` where they are not what
// the entry says, `io` where they cannot be read.
Result<std::string> unpack_image(const StoredImage& stored, const std::string& name);

// Architectures as device files number them: 90 for CC 9.0, 120 for CC 12.0.
constexpr bool is_arch_number(uint32_t number) {
  return number >= 10 && number < 1000;
}
constexpr ComputeCapability cc_of_arch_number(uint32_t number) {
  return {static_cast<int>(number / 10), static_cast<int>(number % 10)};
}

}  // namespace dsbuild
