// Compiles a small program to find out whether a header or a library is there.
#pragma once

#include <string>
#include <vector>

#include "requirements/probe.h"

namespace dsbuild {

struct Trial {
  std::string file;                 // name of the source
  std::string program;              // its text
  std::vector<std::string> before;  // arguments ahead of the source
  std::vector<std::string> after;   // arguments after it
};

struct TrialResult {
  bool ran = false;  // false: `text` says why the compiler could not be started
  bool ok = false;   // it ran and exited with 0
  std::string text;  // all that it printed
};

// Runs input.cxx (not null) in a folder with the source alone. So a relative -I or -L of the user's finds
// nothing, as in Ninja's edges. The folder is in the cache folder and stays, so that a null build can ask
// again for a library that was absent. If the cache folder is read-only, it is in the build folder and is
// removed.
TrialResult run_trial(const ProbeInput& input, const Trial& trial);

// The line of a compiler's or linker's text that says what is wrong.
std::string first_error_line(const std::string& text);

// A trial's key in a FactStore: its whole command, because two ops may ask for the same header with different
// folders.
std::string trial_key(const ProbeInput& input, const Trial& trial);

}  // namespace dsbuild
