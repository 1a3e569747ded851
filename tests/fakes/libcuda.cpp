// CUDA's driver with devices that are made up: FAKE_GPUS has their compute capabilities ("90 80"; without it
// there are four), FAKE_LOG names a file that gets a line for each start. As the real one it knows nothing
// until cuInit, and nothing in a child that is forked behind that.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace {

// Source: cuda.h (CUresult, CUdevice_attribute).
constexpr int k_success = 0, k_invalid_value = 1, k_not_initialised = 3;
constexpr int k_cc_major = 75, k_cc_minor = 76;

pid_t g_initialised_in = 0;
std::vector<int> g_compute_capabilities;

bool is_device(int number) {
  return number >= 0 && number < static_cast<int>(g_compute_capabilities.size());
}

std::vector<int> made_up_gpus() {
  const char* const asked = ::getenv("FAKE_GPUS");
  std::istringstream words(asked ? asked : "90 80 90 120");
  std::vector<int> gpus;
  for (int gpu = 0; words >> gpu;)
    gpus.push_back(gpu);
  return gpus;
}

void log_start() {
  const char* const file = ::getenv("FAKE_LOG");
  FILE* const log = file ? std::fopen(file, "a") : nullptr;
  if (log == nullptr) return;
  std::fputs("cuInit\n", log);
  std::fclose(log);
}

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
  g_compute_capabilities = made_up_gpus();
  log_start();
  return k_success;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return k_success;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(g_compute_capabilities.size());
  return checked(true);
}

// A device is not a number of CUDA's own, so that who takes the one for the other is found out.
int cuDeviceGet(int* device, int number) {
  *device = number + 100;
  return checked(is_device(number));
}

int cuDeviceGetAttribute(int* value, int what, int device) {
  const int number = device - 100;
  const bool is_valid = is_device(number) && (what == k_cc_major || what == k_cc_minor);
  if (is_valid)
    *value = what == k_cc_major ? g_compute_capabilities[number] / 10 : g_compute_capabilities[number] % 10;
  return checked(is_valid);
}
}
