// Bytes of messages as tests have them.
#pragma once

#include <string>
#include <string_view>

namespace dsbuild::samples {

inline std::string repeated(std::string_view letters, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i)
    text += letters;
  return text;
}

inline std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

}  // namespace dsbuild::samples
