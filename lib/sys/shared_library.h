// A library that is opened by name while the program runs, as a driver's, which need not be there.
#pragma once

#include <optional>
#include <string>

namespace dsbuild {

class SharedLibrary {
 public:
  // As the loader finds it (LD_LIBRARY_PATH, its cache); nullopt where there is none.
  static std::optional<SharedLibrary> open(const std::string& name);
  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary();

  // nullptr: it has no such function.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* address(const char* name) const;
  void* handle_;
};

}  // namespace dsbuild
