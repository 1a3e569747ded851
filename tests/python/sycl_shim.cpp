// SYCL's memory and queues for tests in Python.
#include <sycl/sycl.hpp>

namespace {

sycl::queue make_queue(int device) {
  const sycl::device chosen = sycl::device::get_devices().at(device);
  return {chosen.get_platform().khr_get_default_context(), chosen, sycl::property::queue::in_order()};
}

}  // namespace

extern "C" int shim_devices() {
  return static_cast<int>(sycl::device::get_devices().size());
}

extern "C" void shim_device_name(int device, char* name, int size) {
  const std::string text = sycl::device::get_devices().at(device).get_info<sycl::info::device::name>();
  std::snprintf(name, size, "%s", text.c_str());
}

// Memory that host and device see.
extern "C" void* shim_allocate(int device, size_t bytes) {
  return sycl::malloc_shared(bytes, make_queue(device));
}

extern "C" void shim_free(int device, void* memory) {
  sycl::free(memory, make_queue(device));
}

extern "C" void* shim_queue(int device) {
  return new sycl::queue(make_queue(device));
}

extern "C" void shim_wait(void* queue) {
  static_cast<sycl::queue*>(queue)->wait();
}
