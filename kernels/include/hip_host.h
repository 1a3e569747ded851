// The HIP runtime for an op's host code, found when it is first called (hip/hip_host.cpp), so that a library
// has no need of one version of it: libamdhip64's SONAME changes with each major version of ROCm. The few
// types and numbers are the same in all of them (HIP's documentation: hipError_t, hipDeviceAttribute_t).
#pragma once

#include <cstdint>
#include <string>

struct ihipStream_t;
using hipStream_t = ihipStream_t*;

enum hipError_t : uint32_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorNoBinaryForGpu = 209,
  hipErrorInvalidKernelFile = 218,
};

enum hipDeviceAttribute_t : uint32_t {
  hipDeviceAttributeComputeCapabilityMajor = 23,
  hipDeviceAttributeComputeCapabilityMinor = 61,
};

// Each forwards to the runtime; without one it fails with hipErrorNotInitialized.
#pragma GCC visibility push(hidden)
extern "C" {
hipError_t hipGetLastError();
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceGetName(char* name, int size, int device);
const char* hipGetErrorString(hipError_t error);
const char* hipGetErrorName(hipError_t error);
}

namespace dsbuild::ops {

// Why nothing can run here: "no HIP runtime: …" or "no HIP device: …". "" where there are both.
std::string missing_hip();

}  // namespace dsbuild::ops
#pragma GCC visibility pop
