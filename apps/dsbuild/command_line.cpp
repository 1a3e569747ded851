#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/version.h"
#include "interface.h"
#include "mended_lists.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

// Options of the second screen are in a group without a name unless all help is asked for: CLI11 hides those.
const char* group(bool show_all) {
  return show_all ? "More options" : "";
}

// "auto|on|off", not "DIR" or "FILE|PRESET".
bool is_choice(const std::string& type) {
  return type.find('|') != std::string::npos && type == to_lower(type);
}

using Values = std::map<std::string, std::string>;

CLI::Option* add_option(CLI::App& app, const Option& option, Values& values) {
  const std::string name = option.name();
  if (option.is_flag())
    return app.add_flag_callback(option.names, [&values, name] { values[name] = "yes"; }, option.help);
  const auto take = [&values, name](const std::string& value) { values[name] = value; };
  return app.add_option_function<std::string>(option.names, take, option.help)->type_name(option.type);
}

void add_options(CLI::App& app, HelpScreen screen, const char* group_name, Arguments& arguments) {
  for (const Option& option : options())
    if (!option.names.empty() && option.screen == screen)
      add_option(app, option, arguments.values)->group(group_name);
}

void add_verbosity(CLI::App& app, int& verbosity) {
  const auto add = [&](const char* names, int by, const char* help) {
    app.add_flag_function(
        names, [&verbosity, by](std::int64_t n) { verbosity += by * static_cast<int>(n); }, help);
  };
  add("-v,--verbose", 1, "Say more");
  add("-q,--quiet", -1, "Say less");
}

void add_own_options(const CommandRow& row, CLI::App& command, CommandLine& line) {
  for (const Option& option : row.options) {
    CLI::Option* added = add_option(command, option, line.options);
    if (is_choice(option.type)) added->check(CLI::IsMember(split(option.type, "|")).description(""));
  }
  if (!row.operands) return;
  CLI::Option* operands = command.add_option(row.operands->name, line.operands, row.operands->help)
                              ->type_name(row.operands->type);
  if (row.operands->most > 0) operands->expected(0, row.operands->most);
}

void add_commands(CLI::App& app, CommandLine& line) {
  for (const CommandRow& row : commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help)->fallthrough();
    command->group(row.hidden ? "" : "Commands");
    command->footer("\n" + render_examples(row.examples) + "\nThe options of `dsbuild --help` apply too.\n");
    add_own_options(row, *command, line);
  }
}

std::string footer() {
  std::string text = "\n" + render_examples(first_examples()) + "\n";
  for (const Note& note : notes())
    text += std::string(note.title) + ": " + note.text + "\n";
  return text;
}

void declare(CLI::App& app, CommandLine& line, bool show_all) {
  app.description("Builds collections of GPU operators ahead of time into a bundle of fat shared libraries.");
  app.footer(footer());
  app.set_help_flag("-h,--help", "One screen of help; behind a command, that command's");
  app.set_version_flag("-V,--version", std::string("dsbuild ") + k_version, "The version");
  app.set_help_all_flag("--help-all", "Every option of every command");
  app.add_flag_callback("--help-man", [] {}, "The man page, for `man -l`")->group(group(show_all));
  app.require_subcommand(0, 1);
  add_options(app, HelpScreen::first, "Options", line.arguments);
  add_verbosity(app, line.arguments.verbosity);
  add_options(app, HelpScreen::second, group(show_all), line.arguments);
  add_commands(app, line);
}

// CLI11 leaves two blank lines between some sections.
std::string one_blank_line(const std::string& text) {
  const std::string fewer = replace_all(text, "\n\n\n", "\n\n");
  return fewer == text ? text : one_blank_line(fewer);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandRow& row : commands())
    if (!row.hidden) names.emplace_back(row.name);
  return names;
}

// The words that CLI11 did not know: the first option among them, else the first word.
std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto option =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word[0] == '-'; });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return "unknown option '" + printable(name) + "'" + did_you_mean(name, option_names(app));
  }
  return "unknown word '" + printable(words.front()) + "'" + did_you_mean(words.front(), command_names());
}

Error bad_option(const std::string& what, const Words& words) {
  const Words mended = with_mended_lists(words, command_names());
  return make_error(Exit::usage, "bad_option", "command line", what,
                    mended.empty() ? "`dsbuild --help` lists commands and options."
                                   : "A list is one word: dsbuild " + shell_join(mended));
}

// `dsbuild help [COMMAND]` and `dsbuild version`, as other tools have them.
Words as_options(Words words) {
  if (words.empty() || (words.front() != "help" && words.front() != "version")) return words;
  const std::string option = "--" + words.front();
  words.erase(words.begin());
  words.push_back(option);
  return words;
}

// CLI11's phrases in our words: "--arch: 1 required LIST missing".
std::string plainly(const std::string& text) {
  const std::string once = replace_all(text, "At Most 1 required but received", "takes one value, was given");
  const std::string value = replace_all(once, ": 1 required ", ": needs its value, ");
  return value == once ? once : replace_all(value, " missing", "");
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info{{}, option.get_type_size() == 0 ? "" : option.get_type_name(), option.get_description()};
  for (const std::string& name : option.get_lnames())
    info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames())
    info.names.push_back("-" + name);
  if (option.get_positional()) info.names = {option.get_name(true)};
  return info;
}

std::vector<OptionInfo> describe_options(const CLI::App& app, bool operands) {
  std::vector<OptionInfo> infos;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() == operands) infos.push_back(describe(*option));
  return infos;
}

// Every command takes --help and --help-all: those of the program stand for all of them.
std::vector<OptionInfo> own_options(const CLI::App& command) {
  std::vector<OptionInfo> options = describe_options(command, false);
  const auto is_help = [](const OptionInfo& option) {
    return option.has_name("--help") || option.has_name("--help-all");
  };
  options.erase(std::remove_if(options.begin(), options.end(), is_help), options.end());
  return options;
}

Interface describe_interface(const CLI::App& app) {
  Interface interface{app.get_description(), describe_options(app, false), {}};
  for (const CommandRow& row : commands()) {
    if (row.hidden) continue;
    const CLI::App& command = *app.get_subcommand(row.name);
    interface.commands.push_back(
        {row.name, row.help, row.examples, own_options(command), describe_options(command, true)});
  }
  return interface;
}

// How many words are ours: behind `--` of record stands a command, whose options are none.
int own_words(int argc, const char* const* argv) {
  const auto end = argv + argc;
  const auto is = [](std::string_view wanted) {
    return [wanted](const char* word) { return std::string_view(word) == wanted; };
  };
  const auto marker = std::find_if(argv + 1, end, is("--"));
  const bool is_record = std::find_if(argv + 1, marker, is("record")) != marker;
  return static_cast<int>((is_record ? marker : end) - argv);
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  for (int i = 0; i < argc; ++i)
    line.as_typed += (i ? " " : "") + shell_quote(argv[i]);
  // Its words hold compilers' commands, whose options are none of ours.
  if (argc > 1 && std::string_view(argv[1]) == "action") {
    line.command = argv[1];
    line.operands.assign(argv + 2, argv + argc);
    return line;
  }
  const int own = own_words(argc, argv);
  if (own < argc) line.program.assign(argv + own + 1, argv + argc);
  CLI::App app("", "dsbuild");
  const Words words = as_options({argv + 1, argv + own});
  declare(app, line, std::find(words.begin(), words.end(), "--help-all") != words.end());
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForVersion&) {
    line.answer = std::string("dsbuild ") + k_version + "\n";
  } catch (const CLI::CallForAllHelp&) {
    line.answer = one_blank_line(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    line.answer = one_blank_line(chosen.empty() ? app.help() : chosen.front()->help(app.get_name()));
  } catch (const CLI::ExtrasError&) {
    return tl::unexpected<Error>(bad_option(unknown_word(app), words));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Error>(bad_option(plainly(error.what()), words));
  }
  for (const CLI::App* chosen : app.get_subcommands())
    line.command = chosen->get_name();
  if (app.count("--help-man") > 0) line.answer = render_man_page(describe_interface(app));
  return line;
}

Interface command_line_interface() {
  CommandLine line;
  CLI::App app("", "dsbuild");
  declare(app, line, true);
  return describe_interface(app);
}

}  // namespace dsbuild
