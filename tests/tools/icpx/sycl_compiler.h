// DPC++'s device compiler in libsycl-jit.so, which PyPI's intel-sycl-rt has for kernels compiled at run time.
#pragma once

#include <string>
#include <vector>

#include "device_image.h"

namespace icpx {

struct Compilation {
  bool succeeded;
  std::string log;  // what the compiler says, warnings too
  std::vector<DeviceImage> images;
};

// SYCL to SPIR-V. `library` is that of release 2026.2.0, whose interface this is; `arguments` are clang's.
Compilation compile_sycl(const std::string& library, const std::string& source,
                         const std::vector<std::string>& arguments);

}  // namespace icpx
