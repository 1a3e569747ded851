// A library that is opened by name while the program runs, as a driver's, which need not be there.
#pragma once

#include <optional>
#include <string>

namespace dsbuild {

class SharedLibrary {
 public:
  // As the loader finds it (LD_LIBRARY_PATH, its cache), or by its path, with all its symbols bound; nullopt
  // where there is none that can be opened, and then what the loader says of it in `why`.
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
