// The command line as data. What every command takes is a row in lib/settings/options.cpp, what one command
// takes stands in that command's row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"

namespace dsbuild {

struct CommandLine {
  std::string command = "build";
  Arguments arguments;                         // options that every command takes
  std::map<std::string, std::string> options;  // the command's own, by name; of a flag "yes"
  std::vector<std::string> operands;
  std::vector<std::string> program;   // what stands behind `--` of record, wrap and watch, as it is
  std::optional<std::string> answer;  // --help and the like: the text to print, nothing else to do
  std::string as_typed;               // for messages about who holds a lock; without passwords
  std::vector<std::string> words;     // the same, without the program

  bool has(const std::string& option) const { return options.count(option) > 0; }
  std::string value(const std::string& option, const std::string& fallback = "") const {
    return has(option) ? options.at(option) : fallback;
  }
};

// Errors: exit 2 `bad_option`.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

// An operand that names nothing was meant to be something else: a second command, part of a list of --ops or
// the like, or one of `ops` or the commands, misspelt. nullopt: neither.
std::optional<Error> misplaced_operand(const CommandLine& line, const std::string& word,
                                       const std::vector<std::string>& ops);

}  // namespace dsbuild
