// Blocks signals in helper threads, so that the main thread gets them.
#pragma once

namespace dsbuild {

// Blocks all signals in the thread that calls, and in those that it starts. SIGPIPE is among them: a write to
// a closed socket is then an error, and not the end of the program.
void block_signals_in_this_thread();

}  // namespace dsbuild
