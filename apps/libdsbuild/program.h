// Finds the program dsbuild and runs it, without a change to this process.
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
  // Gets the lines of its stderr; empty: it writes to our stderr.
  std::function<void(const char*)> on_message;
};

struct ProgramAnswer {
  std::string out;  // its stdout
  // 128 + n: killed by signal n; nullopt: other code in this process waited for it.
  std::optional<int> exit_code;
};

// Starts the program in our environment and folder, and waits for its end. Its stdin is /dev/null, and it
// inherits no other descriptor of ours. Its signals have their defaults, except that it ignores SIGHUP,
// SIGINT and SIGQUIT if we ignore them (nohup, a background job). It is in our process group, so Ctrl-C
// reaches it. Errors: exit 3 `cannot_start`.
Result<ProgramAnswer> run_program(const ProgramRun& run);

}  // namespace dsbuild
