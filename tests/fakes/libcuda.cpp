// CUDA's driver with devices that are made up. As the real one it knows nothing until cuInit, and nothing in
// a child that is forked behind that.
#include <unistd.h>

#include <cstdlib>

namespace {

// Source: cuda.h (CUresult, CUdevice_attribute).
constexpr int k_success = 0, k_invalid_value = 1, k_not_initialised = 3;
constexpr int k_cc_major = 75, k_cc_minor = 76;
constexpr int k_compute_capabilities[] = {90, 80, 90, 120};
constexpr int k_devices = sizeof k_compute_capabilities / sizeof *k_compute_capabilities;

pid_t g_initialised_in = 0;

int checked(bool is_valid) {
  if (g_initialised_in != ::getpid()) return k_not_initialised;
  return is_valid ? k_success : k_invalid_value;
}

// That it was loaded shows also behind its unloading.
__attribute__((constructor)) void leave_a_trace() {
  ::setenv("FAKE_CUDA_WAS_LOADED", "1", 1);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  g_initialised_in = ::getpid();
  return k_success;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return k_success;
}

int cuDeviceGetCount(int* count) {
  *count = k_devices;
  return checked(true);
}

// A device is no number of CUDA's own, so that who takes the one for the other is found out.
int cuDeviceGet(int* device, int number) {
  *device = number + 100;
  return checked(number >= 0 && number < k_devices);
}

int cuDeviceGetAttribute(int* value, int what, int device) {
  const int number = device - 100;
  const bool is_valid = number >= 0 && number < k_devices && (what == k_cc_major || what == k_cc_minor);
  if (is_valid)
    *value = what == k_cc_major ? k_compute_capabilities[number] / 10 : k_compute_capabilities[number] % 10;
  return checked(is_valid);
}
}
