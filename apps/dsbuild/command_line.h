// The parsed command line. Options of all commands are rows in lib/settings/options.cpp; options of one
// command are in its CommandRow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"

namespace dsbuild {

struct CommandLine {
  std::string command = "build";
  Arguments arguments;                         // options that are rows in lib/settings/options.cpp
  std::map<std::string, std::string> options;  // the command's own, by name; a flag has "yes"
  std::vector<std::string> operands;
  std::vector<std::string> program;  // the words after `--` of record, wrap and watch, unchanged
  // For --help and the like: the text to print; nothing else is to be done.
  std::optional<std::string> answer;
  std::string as_typed;            // for messages about who holds a lock; without passwords
  std::vector<std::string> words;  // the same, without the program

  bool has(const std::string& option) const { return options.count(option) > 0; }
  std::string value(const std::string& option, const std::string& fallback = "") const {
    return has(option) ? options.at(option) : fallback;
  }
};

// Errors: exit 2 `bad_option`.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

// The error for an operand that names nothing, if it looks like a second command, part of a list (as of
// --ops), or a misspelt op or command. nullopt: it looks like none of these.
std::optional<Error> misplaced_operand(const CommandLine& line, const std::string& word,
                                       const std::vector<std::string>& ops);

}  // namespace dsbuild
