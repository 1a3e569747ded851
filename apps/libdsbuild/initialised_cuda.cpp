#include "initialised_cuda.h"

#include <dlfcn.h>

namespace dsbuild {
namespace {

// Source: cuda.h (CUresult 0 is success, 3 not initialised; CUdevice_attribute).
constexpr int k_success = 0;
constexpr int k_cc_major = 75, k_cc_minor = 76;

template <class Function>
Function* function(void* driver, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(driver, name));
}

// "9.0"; "" where the driver does not say.
std::string compute_capability(void* driver, int number) {
  const auto get = function<int(int*, int)>(driver, "cuDeviceGet");
  const auto attribute = function<int(int*, int, int)>(driver, "cuDeviceGetAttribute");
  int device = 0, major = 0, minor = 0;
  const bool is_known = get && attribute && get(&device, number) == k_success &&
                        attribute(&major, k_cc_major, device) == k_success &&
                        attribute(&minor, k_cc_minor, device) == k_success;
  return is_known ? std::to_string(major) + "." + std::to_string(minor) : std::string();
}

std::string gpus_of(void* driver) {
  const auto count = function<int(int*)>(driver, "cuDeviceGetCount");
  int devices = 0;
  if (!count || count(&devices) != k_success) return {};
  std::string list;
  for (int number = 0; number < devices; ++number) {
    const std::string gpu = compute_capability(driver, number);
    if (gpu.empty()) return {};
    if (("," + list + ",").find("," + gpu + ",") == std::string::npos)
      list += (list.empty() ? "" : ",") + gpu;
  }
  return list;
}

}  // namespace

std::string gpus_of_initialised_cuda() {
  // RTLD_LAZY, for RTLD_NOW would bind symbols of the caller's library anew.
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {};
  std::string gpus = gpus_of(driver);
  ::dlclose(driver);
  return gpus;
}

}  // namespace dsbuild
