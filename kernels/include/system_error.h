// What a refused system call is called in an error message.
#pragma once

#include <cstring>
#include <string>

namespace dsbuild::ops {

// "No space left on device (errno 28)"
inline std::string errno_text(int code) {
  char buffer[128];
  return std::string(strerror_r(code, buffer, sizeof buffer)) + " (errno " + std::to_string(code) + ")";
}

}  // namespace dsbuild::ops
