// Runs a command for which the user started dsbuild. The command has dsbuild's terminal, streams and process
// group, as if the user had started it directly.
#pragma once

#include "sys/process.h"

namespace dsbuild {

// Whom a signal is for that comes to us before the command's end: `are_ours_too` raises it again after that.
enum class SignalsMeanwhile { are_the_commands, are_ours_too };

// Waits for its end and gives its exit code (128 + n when killed by signal n). Meanwhile we stay: of what a
// terminal sends to the whole group the command has its own (Ctrl-C), and what is sent to us alone is passed
// on (SIGINT, SIGTERM, SIGHUP, SIGQUIT). `cwd` and `timeout` do not count.
// Error: exit 3, code `cannot_start`.
Result<int> run_attached(const Command& command,
                         SignalsMeanwhile meanwhile = SignalsMeanwhile::are_the_commands);

// The command takes our place, in `cwd` where it is not empty: it has our process id, so that whatever is
// done to us is done to it. Returns only where it cannot be started: exit 3, code `cannot_start`.
Error become(const Command& command);

}  // namespace dsbuild
