#include "sys/clock.h"

#include <array>
#include <ctime>

namespace dsbuild {

// gcc 10 has no calendar in std::chrono.
std::string utc_text(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace dsbuild
