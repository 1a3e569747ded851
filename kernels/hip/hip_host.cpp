// The functions of libamdhip64 that an op's host code calls, each passed on to the runtime that the process
// has or that the loader finds. They are hidden: another library's calls do not come here.
//
// A kernel's object registers its images when it is loaded. That is kept here until the first call: a library
// loads without a runtime, and a program that loads its framework after an op has one runtime, the
// framework's.
#include "hip_host.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace dsbuild::ops {
namespace {

struct Dim3 {
  uint32_t x, y, z;
};

// As the host code of clang registers it; all but the stub and the name are unused by the runtime.
struct Kernel {
  const void* stub;
  char* device_function;
  const char* name;
  unsigned thread_limit;
  void *thread_id, *block_id, *block_size, *grid_size;
  int* wavefront_size;
};

struct Module {
  const void* images;
  std::vector<Kernel> kernels;
  void** handle = nullptr;  // the runtime's
};

// Types of functions for which hip_host.h has no declaration.
using RegisterFatBinary = void** (*)(const void*);
using UnregisterFatBinary = void (*)(void**);
using RegisterFunction = void (*)(void**, const void*, char*, const char*, unsigned, void*, void*, void*,
                                  void*, int*);
using PushCallConfiguration = hipError_t (*)(Dim3, Dim3, size_t, hipStream_t);
using PopCallConfiguration = hipError_t (*)(Dim3*, Dim3*, size_t*, hipStream_t*);
using LaunchKernel = hipError_t (*)(const void*, Dim3, Dim3, void**, size_t, hipStream_t);
using GetDeviceCount = hipError_t (*)(int*);

struct Runtime {
  RegisterFatBinary register_images;
  UnregisterFatBinary unregister_images;
  RegisterFunction register_kernel;
  PushCallConfiguration push;
  PopCallConfiguration pop;
  LaunchKernel launch;
  GetDeviceCount device_count;
  decltype(&hipGetLastError) last_error;
  decltype(&hipGetDevice) get_device;
  decltype(&hipSetDevice) set_device;
  decltype(&hipDeviceGetAttribute) attribute;
  decltype(&hipDeviceGetName) device_name;
  decltype(&hipGetErrorString) error_string;
  decltype(&hipGetErrorName) error_name;
  std::string path;
};

// What the library has registered, and the runtime that it was passed on to. Never destroyed: the kernels'
// objects come first and go last.
struct State {
  std::mutex mutex;
  std::vector<std::unique_ptr<Module>> modules;
  std::atomic<const Runtime*> runtime{nullptr};
};

State& state() {
  static State& only = *new State;
  return only;
}

// Newest first. The packages of PyTorch have the last name, of a version that they know.
constexpr const char* k_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
constexpr const char* k_name_in_packages = "libamdhip64.so";

void* find_loaded() {
  for (const char* name : k_names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return handle;
  }
  return dlopen(k_name_in_packages, RTLD_NOW | RTLD_NOLOAD);
}

// That of the process, or the loader's; `fault` says why there is none.
void* open_library(std::string& fault) {
  if (void* handle = find_loaded()) return handle;
  for (const char* name : k_names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    fault += std::string("\n  ") + dlerror();
  }
  fault =
      "no HIP runtime: libamdhip64.so.7, .6 or .5 is neither loaded nor where the loader looks; install "
      "ROCm's, or add its lib folder to LD_LIBRARY_PATH:" +
      fault;
  return nullptr;
}

template <class Function>
void read(void* library, const char* name, Function& function, std::string& missing) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr && missing.empty()) missing = name;
  function = reinterpret_cast<Function>(symbol);
}

std::string file_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "libamdhip64.so";
}

// Null where `fault` says why.
std::unique_ptr<Runtime> open_runtime(std::string& fault) {
  void* const library = open_library(fault);  // never closed
  if (library == nullptr) return nullptr;
  auto r = std::make_unique<Runtime>();
  std::string missing;
  read(library, "__hipRegisterFatBinary", r->register_images, missing);
  read(library, "__hipUnregisterFatBinary", r->unregister_images, missing);
  read(library, "__hipRegisterFunction", r->register_kernel, missing);
  read(library, "__hipPushCallConfiguration", r->push, missing);
  read(library, "__hipPopCallConfiguration", r->pop, missing);
  read(library, "hipLaunchKernel", r->launch, missing);
  read(library, "hipGetDeviceCount", r->device_count, missing);
  read(library, "hipGetLastError", r->last_error, missing);
  read(library, "hipGetDevice", r->get_device, missing);
  read(library, "hipSetDevice", r->set_device, missing);
  read(library, "hipDeviceGetAttribute", r->attribute, missing);
  read(library, "hipDeviceGetName", r->device_name, missing);
  read(library, "hipGetErrorString", r->error_string, missing);
  read(library, "hipGetErrorName", r->error_name, missing);
  r->path = file_of(reinterpret_cast<const void*>(r->register_images));
  if (missing.empty()) return r;
  fault = "no HIP runtime: " + r->path + " has no " + missing;
  return nullptr;
}

void pass_on(const Runtime& runtime, Module& module) {
  module.handle = runtime.register_images(module.images);
  for (const Kernel& k : module.kernels) {
    runtime.register_kernel(module.handle, k.stub, k.device_function, k.name, k.thread_limit, k.thread_id,
                            k.block_id, k.block_size, k.grid_size, k.wavefront_size);
  }
}

// When this library is closed, or at the process's end: there before the runtime's own last functions, which
// were registered earlier. Those of the kernels' objects would come after them.
void take_back() {
  const std::lock_guard lock(state().mutex);
  const Runtime& runtime = *state().runtime.load();
  for (const auto& module : state().modules)
    runtime.unregister_images(module->handle);
}

// Null where there is none, and `fault` says why; the next call looks again.
const Runtime* find_runtime(std::string& fault) {
  if (const Runtime* known = state().runtime.load()) return known;
  const std::lock_guard lock(state().mutex);
  if (const Runtime* known = state().runtime.load()) return known;
  const Runtime* const found = open_runtime(fault).release();
  if (found == nullptr) return nullptr;
  for (const auto& module : state().modules)
    pass_on(*found, *module);
  state().runtime.store(found);
  std::atexit(take_back);
  return found;
}

const Runtime* runtime() {
  std::string fault;
  return find_runtime(fault);
}

// Of a function that returns an error.
template <class Function, class... T>
hipError_t call(Function Runtime::* function, T... arguments) {
  const Runtime* const r = runtime();
  return r == nullptr ? hipErrorNotInitialized : (r->*function)(arguments...);
}

}  // namespace

std::string missing_hip() {
  std::string fault;
  const Runtime* const r = find_runtime(fault);
  if (r == nullptr) return fault;
  int count = 0;
  const hipError_t error = r->device_count(&count);
  if (error == hipSuccess && count > 0) return {};
  return "no HIP device: " + r->path + " finds none (" + r->error_string(error ? error : hipErrorNoDevice) +
         "); is there an AMD GPU, with its driver amdgpu, and may this user open /dev/kfd?";
}

extern "C" {

hipError_t hipGetLastError() {
  return call(&Runtime::last_error);
}
hipError_t hipGetDevice(int* device) {
  return call(&Runtime::get_device, device);
}
hipError_t hipSetDevice(int device) {
  return call(&Runtime::set_device, device);
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return call(&Runtime::attribute, value, attribute, device);
}
hipError_t hipDeviceGetName(char* name, int size, int device) {
  return call(&Runtime::device_name, name, size, device);
}
const char* hipGetErrorString(hipError_t error) {
  const Runtime* const r = runtime();
  return r == nullptr ? "no HIP runtime" : r->error_string(error);
}
const char* hipGetErrorName(hipError_t error) {
  const Runtime* const r = runtime();
  return r == nullptr ? "hipErrorNotInitialized" : r->error_name(error);
}

// What the host code of clang calls: the images and kernels of an object, and a launch in its three steps.

#pragma GCC visibility push(hidden)

void** __hipRegisterFatBinary(const void* images) {
  const std::lock_guard lock(state().mutex);
  state().modules.push_back(std::make_unique<Module>(Module{images, {}}));
  return reinterpret_cast<void**>(state().modules.back().get());
}

void __hipRegisterFunction(void** module, const void* stub, char* device_function, const char* name,
                           unsigned thread_limit, void* thread_id, void* block_id, void* block_size,
                           void* grid_size, int* wavefront_size) {
  reinterpret_cast<Module*>(module)->kernels.push_back({stub, device_function, name, thread_limit, thread_id,
                                                        block_id, block_size, grid_size, wavefront_size});
}

// See take_back.
void __hipUnregisterFatBinary(void**) {}

hipError_t __hipPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, hipStream_t stream) {
  return call(&Runtime::push, grid, block, shared_bytes, stream);
}
hipError_t __hipPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  return call(&Runtime::pop, grid, block, shared_bytes, stream);
}
hipError_t hipLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t stream) {
  return call(&Runtime::launch, stub, grid, block, arguments, shared_bytes, stream);
}

#pragma GCC visibility pop
}

}  // namespace dsbuild::ops
