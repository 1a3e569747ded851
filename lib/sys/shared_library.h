// A library that is opened while the program runs (dlopen), such as a driver's, which may be absent.
#pragma once

#include <optional>
#include <string>

namespace dsbuild {

class SharedLibrary {
 public:
  // Opens it by path, or by name as the loader finds it (LD_LIBRARY_PATH, its cache), and binds all its
  // symbols. nullopt: it could not be opened, and `why` has the loader's reason.
  static std::optional<SharedLibrary> open(const std::string& name, std::string* why = nullptr);
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
