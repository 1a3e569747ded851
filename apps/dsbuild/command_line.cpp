#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/version.h"
#include "interface.h"
#include "mended_words.h"
#include "option_uses.h"
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
  for (const Option& option : row.options)
    add_option(command, option, line.options);
  if (!row.operands) return;
  CLI::Option* operands = command.add_option(row.operands->name, line.operands, row.operands->help)
                              ->type_name(row.operands->type);
  if (row.operands->most > 0) operands->expected(0, row.operands->most);
}

void add_commands(CLI::App& app, CommandLine& line) {
  for (const CommandRow& row : commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help)->fallthrough();
    command->group(row.hidden ? "" : "Commands");
    command->footer("\n" + render_examples(row.examples) + "\n" + render_used_options(used_options(row)));
    add_own_options(row, *command, line);
  }
}

void declare(CLI::App& app, CommandLine& line, bool show_all) {
  app.description("Builds GPU operators ahead of time into a bundle of fat shared libraries.");
  app.set_help_flag("-h,--help", "This screen; behind a command, that command's");
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

Words names_of(const CLI::Option& option) {
  Words names;
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  return names;
}

// Of the program and of the command that was chosen.
Words option_names(const CLI::App& app) {
  Words names;
  std::vector<const CLI::App*> parts = {&app};
  for (const CLI::App* chosen : app.get_subcommands())
    parts.push_back(chosen);
  for (const CLI::App* part : parts)
    for (const CLI::Option* option : part->get_options())
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

// A password in a URL is shown to nobody who reads a message or waits for a lock.
Words shown_words(Words words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_url = words[i].find("://") != std::string::npos || words[i].starts_with("--remote=") ||
                        (i > 0 && words[i - 1] == "--remote");
    if (is_url) words[i] = without_password(words[i]);
  }
  return words;
}

std::string unknown_word_text(const std::string& word) {
  return "unknown word '" + printable(shown_words({word}).front()) + "'";
}

Error bad_option(const std::string& what, const std::string& why, const Words& mended) {
  return make_error(Exit::usage, "bad_option", "command line", what,
                    mended.empty() ? "`dsbuild --help` lists commands and options."
                                   : why + ": dsbuild " + shell_join(shown_words(mended)));
}

Error unknown_option(const std::string& word, const CLI::App& app, const Words& words) {
  const std::string name = word.substr(0, word.find('='));
  const std::string what = "unknown option '" + printable(name) + "'", foreign = word_for(name);
  if (foreign.starts_with("-")) return bad_option(what, "Its name here", with_word(words, word, foreign));
  if (!foreign.empty()) {  // a command, which takes the place of what stands there
    Words mended = with_word(words, word, foreign);
    for (const CLI::App* chosen : app.get_subcommands())
      mended.erase(std::find(mended.begin(), mended.end(), chosen->get_name()));
    return bad_option(what, "That is a command here", mended);
  }
  const std::string near = nearest(name, option_names(app));
  return bad_option(what + did_you_mean(name, option_names(app)), "Meant",
                    near.empty() ? Words{} : with_word(words, word, near));
}

Error two_commands(const std::string& chosen, const std::string& other, Words words) {
  words.erase(std::find(words.begin(), words.end(), chosen));
  return bad_option("two commands, '" + chosen + "' and '" + other + "'", "One at a time", words);
}

// "ops=all"
std::optional<Error> option_without_dashes(const std::string& word, const CLI::App& app, const Words& words) {
  const std::string name = "--" + word.substr(0, word.find('='));
  const Words options = option_names(app);
  if (std::find(options.begin(), options.end(), name) == options.end()) return std::nullopt;
  return bad_option(unknown_word_text(word) + " (did you mean '" + name + "'?)", "Meant",
                    with_word(words, word, name));
}

Error unknown_command(const std::string& word, const CLI::App& app, const Words& words) {
  const Words known = command_names();
  if (std::find(known.begin(), known.end(), word) != known.end())
    return two_commands(app.get_subcommands().front()->get_name(), word, words);
  if (const auto option = option_without_dashes(word, app, words)) return *option;
  const std::string what = unknown_word_text(word);
  const std::string near = nearest(word, known);
  return bad_option(what + did_you_mean(word, known), "Meant",
                    near.empty() ? Words{} : with_word(words, word, near));
}

// Of the words that CLI11 did not know the first option, else the first word.
Error unknown_word(const CLI::App& app, const Words& words) {
  const Words unknown = app.remaining(true);
  const auto option = std::find_if(unknown.begin(), unknown.end(),
                                   [](const std::string& word) { return word.starts_with("-"); });
  if (option != unknown.end()) return unknown_option(*option, app, words);
  if (const Words mended = with_mended_lists(words, command_names()); !mended.empty())
    return bad_option(unknown_word_text(unknown.front()), "A list is one word", mended);
  return unknown_command(unknown.front(), app, words);
}

// `dsbuild help [COMMAND]` and `dsbuild version`, as other tools have them. Another word of help is the code
// of a message, which the command of that name explains.
Words as_options(Words words) {
  if (words.empty() || (words.front() != "help" && words.front() != "version")) return words;
  const Words known = command_names();
  const auto topic = std::find_if(words.begin() + 1, words.end(),
                                  [](const std::string& word) { return !word.starts_with("-"); });
  const bool is_code = topic != words.end() && std::find(known.begin(), known.end(), *topic) == known.end();
  const bool asks_about_itself = words.size() > 1 && words[1] == "--help";
  if (words.front() == "help" && (is_code || asks_about_itself)) return words;
  const std::string option = "--" + words.front();
  words.erase(words.begin());
  words.push_back(option);
  return words;
}

// CLI11's phrases in our words: "--arch: 1 required LIST missing", "--out: At Most 1 required but received
// 2".
Error bad_value(const std::string& text, const CLI::App& app, const Words& words) {
  const std::string twice =
      replace_all(text, "At Most 1 required but received", "takes one value, was given");
  const std::string none = replace_all(text, ": 1 required ", ": needs its value, ");
  if (twice == text) return bad_option(none == text ? text : replace_all(none, " missing", ""), "", {});
  if (const Words mended = with_mended_lists(words, command_names()); !mended.empty())
    return bad_option(twice, "A list is one word", mended);
  Words names;
  for (const CLI::Option* option : app.get_options())
    if (const Words own = names_of(*option);
        std::find(own.begin(), own.end(), text.substr(0, text.find(':'))) != own.end())
      names = own;
  return bad_option(twice, "Keep one, as in", names.empty() ? Words{} : with_last_value(words, names));
}

// `--arch=`: an empty value, where CLI11 would take the next word for it.
Words with_empty_values(const Words& words, const CLI::App& app) {
  Words plain;
  for (const std::string& word : words) {
    const auto is_of_value = [&](const CLI::Option* option) {
      return option->get_type_size() > 0 && option->check_name(word.substr(0, word.size() - 1));
    };
    const std::vector<const CLI::Option*> options = app.get_options();
    if (word.starts_with("--") && word.ends_with("=") &&
        std::any_of(options.begin(), options.end(), is_of_value)) {
      plain.push_back(word.substr(0, word.size() - 1));
      plain.emplace_back();
    } else {
      plain.push_back(word);
    }
  }
  return plain;
}

// Of a command's own options; those that all take are checked by load_settings.
Result<void> check_choices(const CommandLine& line) {
  for (const CommandRow& row : commands()) {
    if (row.name != line.command) continue;
    for (const Option& option : row.options) {
      const Words choices = split(option.type, "|");
      const std::string value = line.value(option.name());
      if (!is_choice(option.type) || !line.has(option.name()) ||
          std::find(choices.begin(), choices.end(), value) != choices.end())
        continue;
      return fail(Exit::usage, "bad_choice", option.name(),
                  "'" + printable(value) + "' is not one of the choices" + did_you_mean(value, choices),
                  "Choose " + join(choices, ", ") + ".");
    }
  }
  return {};
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info{names_of(option), option.get_type_size() == 0 ? "" : option.get_type_name(),
                  option.get_description(), option.get_group() == "Options"};
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
    interface.commands.push_back({row.name, row.help, row.examples, own_options(command),
                                  describe_options(command, true), used_options(row)});
  }
  return interface;
}

// Of commands whose words are those of compilers: none of their options are ours. As a program called nvcc we
// are that command.
bool take_foreign_words(int argc, const char* const* argv, CommandLine& line) {
  const bool is_nvcc = argc > 0 && Path(argv[0]).filename() == "nvcc";
  const std::string first = argc > 1 ? argv[1] : "";
  const bool asks_for_help = first == "nvcc" && (argc == 2 || std::string_view(argv[2]) == "--help");
  if (!is_nvcc && (asks_for_help || (first != "action" && first != "nvcc"))) return false;
  line.command = is_nvcc ? "nvcc" : first;
  line.operands.assign(argv + (is_nvcc ? 1 : 2), argv + argc);
  return true;
}

// How many words are ours: behind `--` of record, wrap and watch stands a command, whose options are none.
int own_words(int argc, const char* const* argv) {
  const auto end = argv + argc;
  const auto is = [](std::string_view wanted) {
    return [wanted](const char* word) { return std::string_view(word) == wanted; };
  };
  const auto marker = std::find_if(argv + 1, end, is("--"));
  const bool runs_command = std::any_of(argv + 1, marker, [](std::string_view word) {
    return word == "record" || word == "wrap" || word == "watch";
  });
  return static_cast<int>((runs_command ? marker : end) - argv);
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.as_typed = shell_join(shown_words({argv, argv + argc}));
  if (take_foreign_words(argc, argv, line)) return line;
  const int own = own_words(argc, argv);
  if (own < argc) line.program.assign(argv + own + 1, argv + argc);
  CLI::App app("", "dsbuild");
  Words words = as_options({argv + 1, argv + own});
  declare(app, line, std::find(words.begin(), words.end(), "--help-all") != words.end());
  words = with_empty_values(words, app);
  line.words = words;
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForVersion&) {
    line.answer = std::string("dsbuild ") + k_version + "\n";
  } catch (const CLI::CallForAllHelp&) {
    line.answer = one_blank_line(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    line.answer = one_blank_line(chosen.empty() ? render_first_screen(describe_interface(app))
                                                : chosen.front()->help(app.get_name()));
  } catch (const CLI::ExtrasError&) {
    return tl::unexpected<Error>(unknown_word(app, words));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Error>(bad_value(error.what(), app, words));
  }
  for (const CLI::App* chosen : app.get_subcommands())
    line.command = chosen->get_name();
  for (const CommandRow& row : commands())
    if (line.command == row.name) line.arguments.reads_project_file = row.reads_project_file;
  DSBUILD_CHECK(check_choices(line));
  if (!line.answer) DSBUILD_CHECK(check_uses(line));
  if (app.count("--help-man") > 0) line.answer = render_man_page(describe_interface(app));
  return line;
}

std::optional<Error> misplaced_operand(const CommandLine& line) {
  const std::string& word = line.operands.front();
  const Words known = command_names();
  if (std::find(known.begin(), known.end(), word) != known.end())
    return two_commands(line.command, word, line.words);
  if (const Words mended = with_mended_lists(line.words, known); !mended.empty())
    return bad_option(unknown_word_text(word), "A list is one word", mended);
  CommandLine declared;
  CLI::App app("", "dsbuild");
  declare(app, declared, true);
  return option_without_dashes(word, app, line.words);
}

Interface command_line_interface() {
  CommandLine line;
  CLI::App app("", "dsbuild");
  declare(app, line, true);
  return describe_interface(app);
}

}  // namespace dsbuild
