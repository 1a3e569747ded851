#include "sys/shared_library.h"

#include <dlfcn.h>

#include <utility>

namespace dsbuild {

std::optional<SharedLibrary> SharedLibrary::open(const std::string& name, std::string* why) {
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return SharedLibrary(handle);
  const char* const said = ::dlerror();
  if (why != nullptr && said != nullptr) *why = said;
  return std::nullopt;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* SharedLibrary::address(const char* name) const {
  return ::dlsym(handle_, name);
}

}  // namespace dsbuild
