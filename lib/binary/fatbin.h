// What the readers of device code share.
#pragma once

#include "arch/nvidia.h"
#include "binary/image.h"

namespace dsbuild {

bool is_fatbin(Bytes bytes);  // starts with a container

// An image and its bytes as they are stored, compressed if it says so. Views into the section. Images that
// one entry stores together (nvcc --concat) have all that the entry stores as their content: so they are the
// same in two files where the entry is.
struct StoredImage {
  DeviceImage image;
  bool is_tile_ir = false;
  Bytes content;
  Bytes zstd_frame;             // of the content, where it is compressed with Zstandard
  uint64_t unpacked_bytes = 0;  // what the frame says to give
};

// The images of all containers of a section, those of Tile IR too, in file order; as read_fatbins
// (binary/image.h).
Result<std::vector<StoredImage>> read_stored_images(Bytes section, const std::string& name);

// Architectures as device files number them: 90 for CC 9.0, 120 for CC 12.0.
constexpr bool is_arch_number(uint32_t number) {
  return number >= 10 && number < 1000;
}
constexpr ComputeCapability cc_of_arch_number(uint32_t number) {
  return {static_cast<int>(number / 10), static_cast<int>(number % 10)};
}

}  // namespace dsbuild
