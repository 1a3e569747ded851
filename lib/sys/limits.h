// Limits that the system sets this process (setrlimit(2), shown by ulimit; cgroups), in the words of
// messages.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dsbuild {

// Exit 1, code `io`: "writing: No space left on device", and what to do about it.
tl::unexpected<Error> io_error(const std::string& path, const std::string& doing, int error_number);

// To be called first in the program, while the stack is almost empty. Raises limits that are too low for
// dsbuild, Ninja and compilers, if allowed; child processes inherit them. Error: exit 3 `limit_too_low`.
Result<void> raise_own_limits();

// Words for the message: why a limit is needed ("to build anything"), and what else helps (", or give …").
struct LimitPurpose {
  std::string what, or_else = {};
};
// Raises the soft limit of open files to at least `least`; child processes inherit it. Error: exit 3
// `limit_too_low` if the hard limit is lower.
Result<void> allow_open_files(size_t least, const LimitPurpose& purpose);

// Which limits may cause this errno, and how to raise them: "no file may be larger than 4 KiB: raise that
// limit (ulimit -f, now 4)"; "" if none does.
std::string limit_behind(int error_number);
// The same for a tool's output, which has the system's errors by name.
std::string limit_named_in(std::string_view output);

// Notes a refusal of the system that the caller can do without. A later error may follow from it without
// naming it, so that error's message gets these limits, too.
void note_refusal(int error_number);
Error with_refusals(Error error);

// Of memory or threads that were refused: exit 3 `limit_too_low`; of the rest: exit 70 `internal`.
Error error_of(const std::exception& fault);
// A fault in a thread or a destructor ends the program with the same message.
void set_terminate_message();

}  // namespace dsbuild
