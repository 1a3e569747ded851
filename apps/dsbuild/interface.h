// What the command line offers, as data: read out of the table that parses it (command_line.cpp), for the man
// page and for completion.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace dsbuild {

// An option, or an operand of a command.
struct OptionInfo {
  std::vector<std::string> names;  // "--jobs", "-j"; of an operand the name that help gives it
  std::string value;               // "DIR", "auto|always|never"; "" for a flag
  std::string help;
  bool is_on_first_screen = false;
  bool has_name(const std::string& name) const;
};

struct CommandInfo {
  std::string name;
  std::string help;
  std::vector<Example> examples;
  std::vector<OptionInfo> options;  // beside those of Interface
  std::vector<OptionInfo> operands;
  std::vector<UsedOptions> used;  // of the options of Interface
};

struct Interface {
  std::string help;
  std::vector<OptionInfo> options;  // every command takes them
  std::vector<CommandInfo> commands;
};

Interface command_line_interface();

// "Archs: 8.0, 80, …", for the man page; the exit codes, which come last, for --help too.
struct Note {
  const char* title;
  const char* text;
};
const std::vector<Note>& notes();

// "Other options: --config, …\nWith --load also: …", for --help.
std::string render_used_options(const std::vector<UsedOptions>& used);
std::string introduction_of(const UsedOptions& used);  // "With --load also:"

// Aligned, one a line, for --help.
std::string render_examples(const std::vector<Example>& examples);
// `dsbuild --help`: 80 columns, and no more lines than a screen has.
std::string render_first_screen(const Interface& interface);

// The page dsbuild(1), in roff.
std::string render_man_page(const Interface& interface);

}  // namespace dsbuild
