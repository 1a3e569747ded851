// Device images as a part of a library that tells SYCL's runtime of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "device_image.h"

namespace icpx {

struct LinkedImage {
  DeviceImage image;
  std::string target;  // spir64, spir64_gen
  std::string file;    // its bytes, for .incbin
};

// Assembly of the tables that libsycl.so.9 reads, with a constructor that hands them over; sections and
// layout as in libraries that icpx linked (dpctl 0.22.1 of PyPI).
std::string registration(const std::vector<LinkedImage>& images);

}  // namespace icpx
