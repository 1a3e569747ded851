// The command line as data. Every option is declared once, in command_line.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"

namespace dsbuild {

struct CommandLine {
  std::string command = "build";
  Arguments arguments;
  std::vector<std::string> operands;  // inspect FILE…, verify BUNDLE, wheel BUNDLE, toolkits get VERSION,
                                      // cache WORD, new OP, step …
  std::string format;                 // plan --format
  std::string backend = "cuda";       // new --backend
  bool wants_man_page = false;        // --help-man
  bool for_request = false;           // toolkits --for
  std::optional<std::string> gpus;    // report, inspect --gpu
  bool hide_operator_status = false;  // report
  bool hide_errors_and_warnings = false;
  bool against_nvcc = false;          // verify --against-nvcc
  bool with_bundle = false;           // clean --bundle
  std::string wheel_dir = ".";        // wheel
  std::string target;                 // install --target
  bool remove = false;                // install --remove
  std::optional<std::string> answer;  // --help and the like: the text to print, nothing else to do
  std::string as_typed;               // for messages about who holds a lock
};

// Errors: exit 2 `bad_option`.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace dsbuild
