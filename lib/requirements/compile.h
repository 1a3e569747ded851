// Compiling a small program to see whether a header or a library is there.
#pragma once

#include <string>
#include <vector>

#include "requirements/probe.h"

namespace dsbuild {

struct Trial {
  std::string file;                 // name of the source
  std::string program;              // its text
  std::vector<std::string> before;  // arguments ahead of the source
  std::vector<std::string> after;   // arguments behind it
};

struct TrialResult {
  bool ran = false;  // false: `text` says why the compiler could not be started
  bool ok = false;   // it ran and exited with 0
  std::string text;  // all that it printed
};

// Runs input.cxx (not null) in the build folder, where Ninja's edges run too. The source and the
// output are in a folder of their own below it, which is removed again.
TrialResult run_trial(const ProbeInput& input, const Trial& trial);

// The line of a compiler's or linker's text that says what is wrong.
std::string first_error_line(const std::string& text);

// All that the answer of `trial` depends on.
std::string trial_identity(const ProbeInput& input, const Trial& trial);

// "no C++ compiler" as a finding.
Finding no_compiler(const ProbeInput& input);

}  // namespace dsbuild
