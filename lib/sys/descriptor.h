// A file descriptor that closes itself. Only for lib/sys.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "sys/limits.h"

namespace dsbuild {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  // False when the system found out only now that it could not write (errno says why).
  bool close();

 private:
  int number_ = -1;
};

// open(2), never interrupted, always close-on-exec.
Descriptor open_file(const Path& path, int flags, unsigned mode = 0);

// "No space left on device".
std::string system_reason(int error_number);

}  // namespace dsbuild
