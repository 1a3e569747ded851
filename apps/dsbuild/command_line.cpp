#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "interface.h"
#include "option_uses.h"
#include "refused_line.h"
#include "settings/options.h"
#include "version_text.h"

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
  for (const VerbosityFlag& flag : verbosity_flags())
    app.add_flag_function(
        flag.names, [&verbosity, by = flag.by](std::int64_t n) { verbosity += by * static_cast<int>(n); },
        flag.help);
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
    command->footer(render_footer(used_options(row), row.examples));
    add_own_options(row, *command, line);
  }
}

void declare(CLI::App& app, CommandLine& line, bool show_all) {
  app.description("Builds GPU operators ahead of time into a bundle of fat shared libraries.");
  app.set_help_flag("-h,--help", "This help; after a command, that command's");
  app.set_version_flag("-V,--version", "", "The version; with -v, what this program is built from");
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

// `dsbuild help [COMMAND]` and `dsbuild version`, as other tools have them. Another word of help is the code
// of a message, which the command of that name explains.
Args as_options(Args words) {
  if (words.empty() || (words.front() != "help" && words.front() != "version")) return words;
  const Args known = command_names();
  const auto topic = std::find_if(words.begin() + 1, words.end(),
                                  [](const std::string& word) { return !word.starts_with("-"); });
  const bool is_code = topic != words.end() && !holds(known, *topic);
  const bool asks_about_itself = words.size() > 1 && words[1] == "--help";
  if (words.front() == "help" && (is_code || asks_about_itself)) return words;
  const std::string option = "--" + words.front();
  words.erase(words.begin());
  words.push_back(option);
  return words;
}

// `--arch=`: an empty value, where CLI11 would take the next word for it.
Args with_empty_values(const Args& words, const CLI::App& app) {
  Args plain;
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
      const Args choices = split(option.type, "|");
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

// Words behind no command are operands of build, which is what a line without one means.
bool means_build(const CLI::App& app) {
  return app.get_subcommands().empty() &&
         std::ranges::none_of(app.remaining(true), [](const auto& word) { return word.starts_with("-"); });
}

tl::expected<CommandLine, Refusal> parse_words(const Args& given) {
  CommandLine line;
  CLI::App app("", "dsbuild");
  declare(app, line, holds(given, "--help-all"));
  line.words = with_empty_values(given, app);
  if (auto refusal = find_refused_option(app, line.words)) return tl::unexpected<Refusal>(*refusal);
  try {
    app.parse(Args(line.words.rbegin(), line.words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForVersion&) {
    line.answer = version_text(app.count("--verbose") > 0);
  } catch (const CLI::CallForAllHelp&) {
    line.answer = one_blank_line(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    line.answer = one_blank_line(chosen.empty() ? render_first_screen(describe_interface(app))
                                                : chosen.front()->help(app.get_name()));
  } catch (const CLI::ExtrasError&) {
    if (!means_build(app)) return tl::unexpected<Refusal>(refuse_unknown_word(app, line.words));
    Args with_command = line.words;
    with_command.insert(with_command.begin(), "build");
    auto build = parse_words(with_command);
    if (build) build->words = line.words;
    return build;
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Refusal>(refuse_value(error.what(), app, line.words));
  }
  for (const CLI::App* chosen : app.get_subcommands())
    line.command = chosen->get_name();
  for (const CommandRow& row : commands())
    if (line.command == row.name) line.arguments.reads_project_file = row.reads_project_file;
  if (app.count("--help-man") > 0) line.answer = render_man_page(describe_interface(app));
  return line;
}

std::optional<Refusal> refuse_operand_of(const CommandLine& line, const std::string& word, const Args& ops) {
  CommandLine declared;
  CLI::App app("", "dsbuild");
  declare(app, declared, true);
  return refuse_operand(word, line.command, ops, app, line.words);
}

// Its values too, as far as they can be told without the disk. A word where a command may stand, and which is
// nearly one, is an op that nobody has.
std::optional<Refusal> why_refused(const Args& words) {
  const auto line = parse_words(words);
  if (!line) return line.error();
  const bool has_command = holds(words, line->command);
  if (!has_command && !line->operands.empty())
    if (auto refusal = refuse_operand_of(*line, line->operands.front(), {})) return refusal;
  auto checked = check_choices(*line);
  if (checked && !line->answer) checked = check_uses(*line);
  if (checked) checked = check_arguments(line->arguments);
  return checked ? std::nullopt : std::optional(Refusal{checked.error()});
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine foreign;
  foreign.as_typed = shell_join(shown_words({argv, argv + argc}));
  if (take_foreign_words(argc, argv, foreign)) return foreign;
  const int own = own_words(argc, argv);
  Args program;
  if (own < argc) program.assign(argv + own + 1, argv + argc);
  auto line = parse_words(as_options({argv + 1, argv + own}));
  if (!line) return tl::unexpected<Error>(said(line.error(), why_refused, program));
  line->program = std::move(program);
  line->as_typed = foreign.as_typed;
  DSBUILD_CHECK(check_choices(*line));
  if (!line->answer) DSBUILD_CHECK(check_uses(*line));
  return std::move(*line);
}

std::optional<Error> misplaced_operand(const CommandLine& line, const std::string& word, const Args& ops) {
  auto refusal = refuse_operand_of(line, word, ops);
  return refusal ? std::optional(said(std::move(*refusal), why_refused, line.program)) : std::nullopt;
}

Interface command_line_interface() {
  CommandLine line;
  CLI::App app("", "dsbuild");
  declare(app, line, true);
  return describe_interface(app);
}

}  // namespace dsbuild
