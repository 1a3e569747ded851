// Macros by which what a compile makes depends on times. A source is searched as text: one that only speaks
// of them counts too.
#pragma once

#include <string_view>

namespace dsbuild {

// __DATE__ and __TIME__: when it is compiled. gcc takes SOURCE_DATE_EPOCH in place of the clock.
bool reads_clock(std::string_view text);

// __TIMESTAMP__: the mtime of the file where it is expanded, as local time, whatever SOURCE_DATE_EPOCH says.
bool reads_time_of_file(std::string_view text);

}  // namespace dsbuild
