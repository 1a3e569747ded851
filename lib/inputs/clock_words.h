// Finds macros that make a compile's output depend on times. Searches the source as text, so a macro in a
// comment counts, too.
#pragma once

#include <string_view>

namespace dsbuild {

// __DATE__ and __TIME__: the time of the compile. gcc takes SOURCE_DATE_EPOCH in place of the clock.
bool reads_clock(std::string_view text);

// __TIMESTAMP__: the mtime of the file in which it is expanded, as local time. SOURCE_DATE_EPOCH does not
// change it.
bool reads_time_of_file(std::string_view text);

}  // namespace dsbuild
