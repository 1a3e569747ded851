#include "interface.h"

#include <algorithm>

#include "argument_suggestions.h"
#include "base/args.h"
#include "base/text.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

constexpr size_t k_example_columns = 48;
constexpr size_t k_screen_columns = 80;
// Commands whose examples are on the first screen: how one begins.
const std::vector<std::string> k_first_commands = {"build", "plan", "new"};

// `begin`, then words from this column on, in as many lines as it takes.
std::string screen_row(const std::string& begin, size_t column, const std::string& text) {
  std::string all, line = begin;
  line.resize(std::max(column, begin.empty() ? 0 : begin.size() + 2), ' ');
  for (const std::string& word : split(text, " ")) {
    const bool is_first = line.empty() || line.back() == ' ';
    if (!is_first && line.size() + 1 + word.size() > k_screen_columns) {
      all += line + "\n";
      line = std::string(column, ' ');
    }
    line += (line.empty() || line.back() == ' ' ? "" : " ") + word;
  }
  return all + line + "\n";
}

std::string shown_names(Args names, const std::string& value) {
  std::ranges::sort(names, {}, &std::string::size);
  return join(names, ",") + (value.empty() ? "" : " " + value);
}

bool is_on_first_screen(const std::string& name) {
  return dsbuild::find_option(name)->screen == HelpScreen::first;
}

std::string render_common_options(const Args& used) {
  std::string text = "\nCommon options:\n";
  const auto add = [&text](const std::string& names, const std::string& type, const std::string& help) {
    text += screen_row("  " + shown_names(split(names, ","), type), 30, help);
  };
  for (const Option& option : options())
    if (option.screen == HelpScreen::first && holds(used, option.name()))
      add(option.names, option.type, option.help);
  for (const VerbosityFlag& flag : verbosity_flags())
    add(flag.names, "", flag.help);
  return text;
}

std::string render_examples(const std::vector<Example>& examples) {
  std::string text = "\nExamples:\n";
  for (const Example& example : examples) {
    std::string line = std::string("  ") + example.line;
    line.resize(std::max(line.size() + 2, k_example_columns), ' ');
    text += line + example.what + "\n";
  }
  return text;
}

}  // namespace

bool OptionInfo::has_name(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<VerbosityFlag>& verbosity_flags() {
  static const std::vector<VerbosityFlag> flags = {{"-v,--verbose", 1, "Say more"},
                                                   {"-q,--quiet", -1, "Say less"}};
  return flags;
}

const std::vector<Note>& notes() {
  static const std::vector<Note> texts = {
      {"Archs",
       "8.0, 80, sm_80, compute_80, 8.0+PTX, 9.0a, 100f, Ampere, native, all, all-major; separated by ; , or "
       "blanks."},
      {"Variables",
       "DS_BUILD_OPS, DS_BUILD_<OP>, TORCH_CUDA_ARCH_LIST, CUDA_HOME, MAX_JOBS, CXX, NO_COLOR … "
       "(docs/reference/cli.md)."},
      {"Exit codes",
       "0 done, 1 a step failed, 2 usage, 3 a requirement is missing, 75 waited too long for a lock."},
  };
  return texts;
}

std::string introduction_of(const UsedOptions& used) {
  if (used.when.empty()) return "Other options:";
  const std::string word = used.when.starts_with("-") ? used.when : "`" + used.when + "`";
  return "With " + word + (used.adds ? " also:" : " only:");
}

std::string render_footer(const std::vector<UsedOptions>& used, const std::vector<Example>& examples) {
  std::string common, other;
  for (const UsedOptions& each : used) {
    Args names = each.names;
    if (each.when.empty()) {
      common = render_common_options(names);
      std::erase_if(names, is_on_first_screen);
    }
    if (!names.empty()) other += screen_row(introduction_of(each), 15, join(names, ", "));
  }
  if (!other.empty()) other = "\n" + other + "`dsbuild --help-all` explains them.\n";
  return common + render_examples(examples) + other;
}

std::string render_first_screen(const Interface& interface) {
  std::string text = screen_row("", 0, interface.help) + "Usage: dsbuild [COMMAND] [OPTIONS]\n\nCommands:\n";
  for (const CommandInfo& command : interface.commands)
    text += screen_row("  " + command.name, 14, command.help);
  text += "\nOptions:\n";
  for (const OptionInfo& option : interface.options)
    if (option.is_on_first_screen)
      text += screen_row("  " + shown_names(option.names, option.value), 24, option.help);
  text += "\nExamples:\n";
  for (const CommandInfo& command : interface.commands) {
    if (std::find(k_first_commands.begin(), k_first_commands.end(), command.name) == k_first_commands.end())
      continue;
    const size_t count = command.name == "build" ? 2 : 1;
    for (size_t i = 0; i < std::min(count, command.examples.size()); ++i)
      text += screen_row(std::string("  ") + command.examples[i].line, 42, command.examples[i].what);
  }
  const Note& exit_codes = notes().back();
  return text + "\n" + "More: dsbuild COMMAND --help, dsbuild --help-all, dsbuild --help-man (archs …)\n" +
         screen_row("", 0, std::string(exit_codes.title) + ": " + exit_codes.text);
}

}  // namespace dsbuild
