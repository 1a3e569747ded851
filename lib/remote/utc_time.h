// Converts times from and to the formats of HTTP and of AWS. All times are in seconds since the epoch, UTC.
// Private to this stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dsbuild {

std::string basic_time(int64_t seconds);  // "20130524T000000Z"
std::optional<int64_t> read_iso_time(
    const std::string& text);  // "2013-05-24T00:00:00Z"; may have a fraction or an offset
std::optional<int64_t> read_http_date(const std::string& text);  // "Fri, 24 May 2013 00:00:00 GMT"

}  // namespace dsbuild
