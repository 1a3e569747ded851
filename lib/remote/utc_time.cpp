#include "remote/utc_time.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr std::array<std::string_view, 12> k_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Moment {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;  // month: 1 to 12
};

std::optional<int64_t> seconds_of(const Moment& moment) {
  const bool is_one = moment.year >= 1970 && moment.year < 10'000 && moment.month >= 1 &&
                      moment.month <= 12 && moment.day >= 1 && moment.day <= 31 && moment.hour >= 0 &&
                      moment.hour < 24 && moment.minute >= 0 && moment.minute < 60 && moment.second >= 0 &&
                      moment.second <= 60;
  if (!is_one) return std::nullopt;
  std::tm parts{};
  parts.tm_year = moment.year - 1900;
  parts.tm_mon = moment.month - 1;
  parts.tm_mday = moment.day;
  parts.tm_hour = moment.hour;
  parts.tm_min = moment.minute;
  parts.tm_sec = moment.second;
  return static_cast<int64_t>(::timegm(&parts));
}

}  // namespace

std::string basic_time(int64_t seconds) {
  std::string text = utc_text(seconds);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::optional<int64_t> read_iso_time(const std::string& text) {
  Moment moment;
  int end = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &moment.year, &moment.month, &moment.day,
                  &moment.hour, &moment.minute, &moment.second, &end) != 6)
    return std::nullopt;
  const auto seconds = seconds_of(moment);
  std::string rest = text.substr(static_cast<size_t>(end));
  if (rest.starts_with('.'))
    rest = rest.substr(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  if (!seconds || rest == "Z") return seconds;
  char sign = 0;
  int hours = 0, minutes = 0;
  if (std::sscanf(rest.c_str(), "%c%2d:%2d", &sign, &hours, &minutes) != 3 || (sign != '+' && sign != '-'))
    return std::nullopt;
  const int64_t offset = (hours * 60 + minutes) * 60;
  return sign == '+' ? *seconds - offset : *seconds + offset;
}

std::optional<int64_t> read_http_date(const std::string& text) {
  Moment moment;
  std::array<char, 4> month{};
  if (std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &moment.day, month.data(), &moment.year,
                  &moment.hour, &moment.minute, &moment.second) != 6)
    return std::nullopt;
  const auto found = std::ranges::find(k_months, std::string_view(month.data()));
  if (found == k_months.end()) return std::nullopt;
  moment.month = static_cast<int>(found - k_months.begin()) + 1;
  return seconds_of(moment);
}

}  // namespace dsbuild
