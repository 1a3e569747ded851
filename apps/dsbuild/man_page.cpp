// dsbuild(1), from the strings of --help.
#include "base/text.h"
#include "base/version.h"
#include "interface.h"

namespace dsbuild {
namespace {

constexpr size_t k_columns = 80;                 // more of a line is bad style, says `mandoc -T lint`
constexpr const char* k_changed = "2026-11-30";  // the page, that is to say what the program takes

// A line that is not read as a request.
std::string roff_line(const std::string& line) {
  const bool is_request = !line.empty() && (line[0] == '.' || line[0] == '\'');
  return (is_request ? "\\&" : "") + line;
}

// A hyphen that can be copied.
std::string escaped(const std::string& text) {
  return replace_all(replace_all(text, "\\", "\\e"), "-", "\\-");
}

// Text as roff takes it, in lines of few words, which it puts together again.
std::string roff(const std::string& text) {
  std::string all, line;
  for (const std::string& word : split(escaped(text), " ")) {
    if (!line.empty() && line.size() + 1 + word.size() >= k_columns) {
      all += roff_line(line) + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + roff_line(line);
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return text.empty() ? "" : " \\fI" + escaped(text) + "\\fR";
}

std::string section(const std::string& title) {
  return ".SH " + title + "\n";
}

std::string entry(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + roff(text) + "\n";
}

std::string render_options(const std::vector<OptionInfo>& options) {
  std::string text;
  for (const OptionInfo& option : options) {
    std::string names;
    for (const std::string& name : option.names)
      names += (names.empty() ? "" : ", ") + bold(name);
    text += entry(names + italic(option.value), option.help);
  }
  return text;
}

std::string render_example_lines(const std::vector<Example>& examples) {
  std::string text;
  for (const Example& example : examples)
    text += entry(bold(example.line), example.what);
  return text;
}

std::string render_used(const std::vector<UsedOptions>& used) {
  std::string text;
  for (const UsedOptions& each : used)
    text += entry(roff(introduction_of(each)), join(each.names, ", "));
  return text;
}

std::string usage(const CommandInfo& command) {
  std::string text = bold("dsbuild " + command.name);
  for (const OptionInfo& operand : command.operands)
    text += " [" + italic(operand.value).substr(1) + " ...]";
  return text + " [" + italic("OPTIONS").substr(1) + "]";
}

std::string render_commands(const std::vector<CommandInfo>& commands) {
  std::string text = section("COMMANDS");
  for (const CommandInfo& command : commands) {
    text += entry(usage(command), command.help + ".");
    const std::string inner = render_options(command.operands) + render_options(command.options) +
                              render_example_lines(command.examples) + render_used(command.used);
    text += ".RS\n" + inner + ".RE\n";
  }
  return text;
}

}  // namespace

std::string render_man_page(const Interface& interface) {
  std::string text = ".TH DSBUILD 1 " + std::string(k_changed) + " \"dsbuild " + escaped(k_version) +
                     "\" \"User Commands\"\n";
  text += section("NAME") + "dsbuild \\- build GPU operators ahead of time\n";
  text += section("SYNOPSIS") + bold("dsbuild") + " [\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n";
  text += section("DESCRIPTION") + roff(interface.help) + "\n";
  text += render_commands(interface.commands);
  text += section("OPTIONS") + render_options(interface.options);
  for (const Note& note : notes())
    text += section(to_upper(note.title)) + roff(note.text) + "\n";
  return text;
}

}  // namespace dsbuild
