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

// To be called first, with next to no stack used. Raises limits that are too low for this program, Ninja and
// compilers, where that is allowed, also for programs that we start. Error: exit 3 `limit_too_low`.
Result<void> raise_own_limits();

// Why a limit is needed, as a message says it: "to build anything"; what else helps: ", or give …".
struct LimitPurpose {
  std::string what, or_else = {};
};
// Raises the soft limit of files that are open at once to `least` where it is lower, also for programs that
// we start. Error: exit 3 `limit_too_low` where the hard limit forbids that.
Result<void> allow_open_files(size_t least, const LimitPurpose& purpose);

// Which limits may cause this errno, and how to raise them: "no file may be larger than 4 KiB: raise
// that limit (ulimit -f, now 4)"; "" where none does.
std::string limit_behind(int error_number);
// The same of what a tool said: errors of the system stand in it by their names.
std::string limit_named_in(std::string_view output);

// Notes what the system refused where the caller goes on without it. A later error that comes of it says
// something different, so it gets these limits too.
void note_refusal(int error_number);
Error with_refusals(Error error);

// Of memory or threads that were refused: exit 3 `limit_too_low`; of the rest: exit 70 `internal`.
Error error_of(const std::exception& fault);
// A fault in a thread or a destructor ends the program with the same message.
void set_terminate_message();

}  // namespace dsbuild
