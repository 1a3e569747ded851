// The clock of file times, and the clock for durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sys/process.h"

namespace dsbuild {

// Nanoseconds since the epoch, as FileIdentity::mtime_ns.
inline int64_t file_clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

inline int64_t unix_seconds() {
  return file_clock_now() / 1'000'000'000;
}

// "2026-11-25T10:47:02Z" of seconds since the epoch.
std::string utc_text(int64_t seconds);
inline std::string utc_date(int64_t seconds) {  // "2026-11-30"
  return utc_text(seconds).substr(0, 10);
}

// File times are those of the kernel's last tick: what changed this long before a moment has an older time.
inline constexpr int64_t k_file_clock_step_ns = 10'000'000;

// Whether a time stands in for the clock, to compilers that take it from there.
inline bool has_source_date(const Environment& environment) {
  return environment.count("SOURCE_DATE_EPOCH") > 0;
}

// Seconds of the steady clock; only differences have a meaning.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace dsbuild
