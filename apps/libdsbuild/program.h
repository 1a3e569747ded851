// The program dsbuild: where it is, and one run of it that leaves no trace in this process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dsbuild {

// `named`: as dsbuild_load_options::program, or NULL. Errors: exit 3 `no_program`.
Result<std::string> find_dsbuild(const char* named);

struct ProgramRun {
  std::string program;
  std::vector<std::string> arguments;
  std::function<void(const char*)> on_message;  // gets the lines of its stderr; empty: that is ours
};

struct ProgramAnswer {
  std::string out;               // its stdout
  std::optional<int> exit_code;  // 128 + n: killed by signal n; nullopt: somebody else waited for it
};

// Starts the program with our environment and folder, /dev/null as stdin and no other descriptors of ours,
// and waits for its end. Signals are as after a login, but for SIGHUP, SIGINT and SIGQUIT that are ignored
// here (nohup, a job in the background), which it ignores too. It is of our process group: Ctrl-C reaches it.
// Errors: exit 3 `cannot_start`.
Result<ProgramAnswer> run_program(const ProgramRun& run);

}  // namespace dsbuild
