// SYCL's device images between the steps of the stand-in for icpx.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace icpx {

struct Property {
  std::string name;
  bool is_number;
  uint32_t number;
  std::string bytes;
};

struct PropertySet {
  std::string name;
  std::vector<Property> properties;
};

// What can be loaded at once, and what the runtime wants to know of it.
struct DeviceImage {
  std::string bytes;  // SPIR-V, or what ocloc made of it
  std::vector<std::string> kernels;
  std::vector<PropertySet> property_sets;
};

// As one section of an object file. The form is ours, behind the magic of LLVM's bitcode, which icpx has
// there.
std::string pack(const std::vector<DeviceImage>& images);
// Throws std::runtime_error for what pack did not make; `bytes` may hold several of them, one behind the
// other.
std::vector<DeviceImage> unpack(const std::string& bytes);

}  // namespace icpx
