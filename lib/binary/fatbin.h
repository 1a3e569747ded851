// CUDA's fatbins. Sources: fatbinary_section.h of the CUDA toolkit (magic numbers of the wrapper 0x466243b1
// and the container 0xba55ed50, sections .nv_fatbin and .nvFatBinSegment); the layout of container entries as
// observed from CUDA 11.8 to 13.5 and checked against cuobjdump (docs/internals/fatbin.md).
#pragma once

#include "arch/nvidia.h"
#include "base/byte_source.h"
#include "binary/stored_image.h"

namespace dsbuild {

bool is_fatbin(Bytes bytes);  // starts with a container

// The images of all containers of a section, those of Tile IR too, in file order; `name` is only for
// messages. Nothing but headers is read. Damaged bytes and entries of a kind that dsbuild does not know give
// exit 1 `bad_fatbin`; NVVM code for link-time optimisation is passed over.
Result<std::vector<StoredContainer>> read_stored_containers(ByteRange section, const std::string& name);
Result<std::vector<DeviceContainer>> read_fatbins(ByteRange section, const std::string& name);

// Architectures as device files number them: 90 for CC 9.0, 120 for CC 12.0.
constexpr bool is_arch_number(uint32_t number) {
  return number >= 10 && number < 1000;
}
constexpr ComputeCapability cc_of_arch_number(uint32_t number) {
  return {static_cast<int>(number / 10), static_cast<int>(number % 10)};
}

}  // namespace dsbuild
