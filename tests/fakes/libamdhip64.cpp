// A HIP runtime that is made up: VERSION is the number in its SONAME. FAKE_HIP_LOG names a file that gets a
// line for each call; FAKE_HIP_DEVICES is how many devices there are [1]; FAKE_HIP_LAUNCH what a launch
// returns [0].
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

struct Dim3 {
  uint32_t x, y, z;
};

// Source: hip_runtime_api.h (hipError_t, hipDeviceAttribute_t).
constexpr int k_no_device = 100, k_invalid_device = 101, k_major = 23, k_minor = 61;

struct Configuration {
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};

std::map<const void*, std::string>& kernels() {
  static auto& all = *new std::map<const void*, std::string>;
  return all;
}
thread_local Configuration t_configuration;
int g_images;  // one handle for each
int g_current;
int g_last;

__attribute__((format(printf, 1, 2))) void log(const char* format, ...) {
  const char* const file = std::getenv("FAKE_HIP_LOG");
  FILE* const out = file ? std::fopen(file, "a") : nullptr;
  if (out == nullptr) return;
  std::fprintf(out, "%d ", VERSION);
  va_list values;
  va_start(values, format);
  std::vfprintf(out, format, values);
  va_end(values);
  std::fputc('\n', out);
  std::fclose(out);
}

int devices() {
  const char* const asked = std::getenv("FAKE_HIP_DEVICES");
  return asked ? std::atoi(asked) : 1;
}

// As the real ones' static objects: gone before what was registered with atexit earlier.
struct End {
  ~End() { log("end"); }
} g_end;

}  // namespace

extern "C" {

void** __hipRegisterFatBinary(const void* wrapper) {
  log("register images %.4s", static_cast<const char*>(wrapper));
  return reinterpret_cast<void**>(static_cast<intptr_t>(++g_images));
}
void __hipRegisterFunction(void** images, const void* stub, char*, const char* name, unsigned, void*, void*,
                           void*, void*, int*) {
  kernels()[stub] = name;
  log("register kernel %s of %ld", name, static_cast<long>(reinterpret_cast<intptr_t>(images)));
}
void __hipUnregisterFatBinary(void** images) {
  log("unregister %ld", static_cast<long>(reinterpret_cast<intptr_t>(images)));
}
int __hipPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, void* stream) {
  t_configuration = {grid, block, shared_bytes, stream};
  return 0;
}
int __hipPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, void** stream) {
  *grid = t_configuration.grid;
  *block = t_configuration.block;
  *shared_bytes = t_configuration.shared_bytes;
  *stream = t_configuration.stream;
  return 0;
}
int hipLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void**, size_t shared_bytes, void* stream) {
  log("launch %s grid %u %u %u block %u %u %u shared %zu stream %p on %d", kernels()[stub].c_str(), grid.x,
      grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream, g_current);
  const char* const asked = std::getenv("FAKE_HIP_LAUNCH");
  return g_last = asked ? std::atoi(asked) : 0;
}
#ifndef WITHOUT_DEVICE_COUNT
int hipGetDeviceCount(int* count) {
  *count = devices();
  return *count > 0 ? 0 : k_no_device;
}
#endif
int hipGetLastError() {
  const int last = g_last;
  g_last = 0;
  return last;
}
int hipGetDevice(int* device) {
  *device = g_current;
  return devices() > 0 ? 0 : k_no_device;
}
int hipSetDevice(int device) {
  if (device >= devices()) return k_invalid_device;
  g_current = device;
  log("device %d", device);
  return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == k_major ? 9 : attribute == k_minor ? 4 : -1;
  return 0;
}
int hipDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "AMD Instinct MI300X");
  return 0;
}
const char* hipGetErrorString(int error) {
  return error == k_no_device ? "no ROCm-capable device is detected" : "an error of the runtime";
}
const char* hipGetErrorName(int error) {
  return error == k_invalid_device ? "hipErrorInvalidDevice" : "hipErrorOther";
}
}
