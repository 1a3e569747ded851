// Signals and threads: a thread of a library's work gets none, so that the main thread goes on getting them.
#pragma once

namespace dsbuild {

// Blocks all signals in the thread that calls, and in those that it starts. SIGPIPE is among them: a write to
// a closed socket is then an error, and not the end of the program.
void block_signals_in_this_thread();

}  // namespace dsbuild
