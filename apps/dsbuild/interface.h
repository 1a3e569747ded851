// The commands and options of the program as data, for help, man page and completion. They come from the
// parser's own table (command_line.cpp).
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace dsbuild {

// An option, or an operand of a command.
struct OptionInfo {
  std::vector<std::string> names;  // "--jobs", "-j"; for an operand, its name in the help text
  std::string value;               // "DIR", "auto|always|never"; "" for a flag
  std::string help;
  bool is_on_first_screen = false;
  bool has_name(const std::string& name) const;
};

struct CommandInfo {
  std::string name;
  std::string help;
  std::vector<Example> examples;
  std::vector<OptionInfo> options;  // besides those of Interface
  std::vector<OptionInfo> operands;
  std::vector<UsedOptions> used;  // the options of Interface that it uses
};

struct Interface {
  std::string help;
  std::vector<OptionInfo> options;  // rows of lib/settings/options.cpp
  std::vector<CommandInfo> commands;
};

Interface command_line_interface();

// A flag that every command takes: each time it is typed, what the program says is more or less by that much.
struct VerbosityFlag {
  const char* names;  // "-v,--verbose"
  int by;
  const char* help;
};
const std::vector<VerbosityFlag>& verbosity_flags();

// Sections of the man page, such as "Archs: 8.0, 80, …". The last one, the exit codes, is also in --help.
struct Note {
  const char* title;
  const char* text;
};
const std::vector<Note>& notes();

std::string introduction_of(const UsedOptions& used);  // "Other options:", "With --load also:"
// What `dsbuild COMMAND --help` says after the command's own options: the options of the first screen that
// the command uses and the flags of verbosity, a row each, then the examples, then the names of its other
// options.
std::string render_footer(const std::vector<UsedOptions>& used, const std::vector<Example>& examples);
// The text of `dsbuild --help`: 80 columns, and no more lines than a screen has.
std::string render_first_screen(const Interface& interface);

// The man page dsbuild(1), in roff.
std::string render_man_page(const Interface& interface);

}  // namespace dsbuild
