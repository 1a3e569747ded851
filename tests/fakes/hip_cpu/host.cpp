// What bindings call of HIP's host side, for kernels that run on the CPU: one device.
#include "hip_host.h"

hipError_t hipGetDevice(int* device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipSetDevice(int) {
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t, int) {
  *value = 0;
  return hipSuccess;
}
hipError_t hipDeviceGetName(char* name, int, int) {
  *name = 0;
  return hipSuccess;
}
const char* hipGetErrorString(hipError_t) {
  return "an error";
}
const char* hipGetErrorName(hipError_t) {
  return "hipError";
}
std::string dsbuild::ops::missing_hip() {
  return {};
}
