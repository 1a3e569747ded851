#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "arch/cpu_level.h"
#include "base/version.h"
#include "interface.h"

namespace dsbuild {
namespace {

// Options of the second screen are in a group without a name unless all help is asked for: CLI11 hides those.
const char* group(bool show_all) {
  return show_all ? "More options" : "";
}

// Completion offers what the type's name lists.
std::string cpu_baseline_values() {
  std::string values = "native";
  for (const CpuLevel& level : cpu_levels())
    values += "|" + level.name;
  return values;
}

void add_selection_options(CLI::App& app, Arguments& a) {
  app.add_option("--ops", a.ops, "Ops to build: all, or names; -NAME leaves one out (\"all,-quantizer\")")
      ->type_name("OPS");
  app.add_option("--arch", a.arch, "Architectures (TORCH_CUDA_ARCH_LIST)")->type_name("ARCHS");
  app.add_option("--out", a.out, "The bundle's folder [dsbuild-out]")->type_name("DIR");
  app.add_option("--build-dir", a.build_dir, "Where objects, logs and build.ninja go [.dsbuild]")
      ->type_name("DIR");
  app.add_option("--cuda-home", a.cuda_home, "The CUDA toolkit to use, no other")->type_name("DIR");
  app.add_option("--config", a.config, "A preset (docker, ci, dev) or a YAML file")->type_name("FILE|PRESET");
  app.add_option("--jobs,-j", a.jobs, "Edges run at a time (MAX_JOBS) [the cores]")->type_name("N");
  app.add_flag("--keep-going,-k", a.keep_going, "Finish the other ops after a failure");
  app.add_flag("--strict", a.strict, "Exit 3 if any selected op was skipped");
  app.add_flag("--json", a.json, "Machine-readable results on stdout");
  app.add_flag_function(
      "-v,--verbose", [&a](std::int64_t n) { a.verbosity += static_cast<int>(n); }, "Say more");
  app.add_flag_function(
      "-q,--quiet", [&a](std::int64_t n) { a.verbosity -= static_cast<int>(n); }, "Say less");
}

void add_more_options(CLI::App& app, Arguments& a, bool show_all) {
  const char* const more = group(show_all);
  app.add_option("--pack", a.pack, "The pack of ops: a name or a folder [native]")
      ->type_name("PACK|DIR")
      ->group(more);
  app.add_option("--source", a.source, "Source root of the pack")->type_name("DIR")->group(more);
  app.add_option("--color", a.color, "Whether text has colours (NO_COLOR)")
      ->type_name("auto|always|never")
      ->group(more);
  app.add_option("--compress-mode", a.compress_mode, "Of nvcc, where the toolkit has it")
      ->type_name("default|size|speed|balance|none")
      ->group(more);
  app.add_option("--pch", a.precompile, "Precompile torch/extension.h [where that is faster]")
      ->type_name("auto|on|off")
      ->group(more);
  app.add_option("--backend", a.backend,
                 "CUDA files: slices where that gives what nvcc gives, slices or an error, nvcc [auto]")
      ->type_name("auto|slices|nvcc")
      ->group(more);
  app.add_flag("--verify-against-nvcc,--audit", a.verify_against_nvcc,
               "Compile CUDA files by nvcc too, and compare what slices made with it")
      ->group(more);
  app.add_option("--python", a.python, "The Python whose torch the ops are for [python3]")
      ->type_name("FILE")
      ->group(more);
  app.add_option("--cpu-baseline", a.cpu_baseline, "What CPU ops may use of the CPU [x86-64-v3, armv8.2-a]")
      ->type_name(cpu_baseline_values())
      ->group(more);
  app.add_option("--memory", a.memory, "Memory that all edges may use together: 8GiB [85 % of what is free]")
      ->type_name("SIZE")
      ->group(more);
  app.add_option("--cache-dir", a.store,
                 "The store of slices' results, for all build folders [~/.cache/dsbuild/store]")
      ->type_name("DIR")
      ->group(more);
  app.add_option("--cache-size", a.store_size, "How large the store may be; 0: none [10G]")
      ->type_name("SIZE")
      ->group(more);
  app.add_option("--lock-timeout", a.lock_timeout, "Seconds to wait for another dsbuild [for ever]")
      ->type_name("SECONDS")
      ->group(more);
  app.add_flag("--debug", a.debug, "Debug info: -g for host code, -lineinfo for device code")->group(more);
  app.add_flag("--allow-disjoint-archs", a.allow_disjoint_archs, "Build even if no arch is common to all ops")
      ->group(more);
  app.add_flag("--drop-unsupported-archs", a.drop_unsupported_archs,
               "Leave out archs that the toolkit cannot target")
      ->group(more);
  app.add_flag("--offline", a.offline, "Fetch nothing")->group(more);
}

// The values are the type's name: help shows them and completion offers them.
void add_choice(CLI::App& command, const char* option, std::string& into,
                const std::vector<std::string>& values, const char* help) {
  command.add_option(option, into, help)
      ->check(CLI::IsMember(values).description(""))
      ->type_name(join(values, "|"));
}

CLI::Option* add_operands(CLI::App& command, CommandLine& line, const char* name, const char* type,
                          const char* help) {
  return command.add_option(name, line.operands, help)->type_name(type);
}

void add_command_options(const std::string& name, CLI::App& command, CommandLine& line) {
  if (name == "plan")
    add_choice(command, "--format", line.format, {"table", "json", "env", "flags", "ninja"},
               "What is printed [table]");
  if (name == "report" || name == "inspect")
    command.add_option("--gpu", line.gpus, "How GPUs of these archs would run it: 8.6,9.0 or native or all")
        ->type_name("ARCHS");
  if (name == "report") {
    command.add_flag("--hide_operator_status", line.hide_operator_status, "The environment alone");
    command.add_flag("--hide_errors_and_warnings", line.hide_errors_and_warnings,
                     "No reasons above the rows");
  }
  if (name == "explain")
    add_operands(command, line, "words", "OP|ARCH", "The op, and the archs asked about [all requested]");
  if (name == "inspect") add_operands(command, line, "files", "FILE|DIR", "Binary files or folders");
  if (name == "verify" || name == "wheel" || name == "install")
    add_operands(command, line, "bundle", "DIR", "The bundle [--out]")->expected(0, 1);
  if (name == "verify")
    command.add_flag("--against-nvcc", line.against_nvcc,
                     "Compile what was built of slices by nvcc too, and compare (give the build's options)");
  if (name == "wheel")
    command.add_option("--wheel-dir", line.wheel_dir, "Where the wheel goes [.]")->type_name("DIR");
  if (name == "install") {
    command.add_option("--target", line.target, "The site-packages folder to install into")->type_name("DIR");
    command.add_flag("--remove", line.remove, "Remove what was installed there, instead");
  }
  if (name == "toolkits") {
    command.add_flag("--for", line.for_request, "Say what it takes to build for the options given");
    add_operands(command, line, "words", "get|11.8|13.5",
                 "`get 11.8`: fetch it into the user's cache folder");
  }
  if (name == "cache")
    add_operands(command, line, "words", "stats|prune|clear",
                 "Show it [stats], bring it down to --cache-size, or empty it");
  if (name == "new") {
    add_choice(command, "--backend", line.backend, {"cuda", "cpu"}, "What the op runs on [cuda]");
    add_operands(command, line, "op", "NAME", "The op's name; its folder goes into --pack [mypack]");
  }
  if (name == "clean") command.add_flag("--bundle", line.with_bundle, "Remove the bundle too");
  if (name == "completion") add_operands(command, line, "shell", "bash|zsh|fish", "The shell");
  if (name == "complete") add_operands(command, line, "words", "WORD", "");
}

void add_commands(CLI::App& app, CommandLine& line) {
  for (const CommandRow& row : commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help)->fallthrough();
    command->group(row.hidden ? "" : "Commands");
    command->footer("\n" + render_examples(row.examples) + "\nThe options of `dsbuild --help` apply too.\n");
    add_command_options(row.name, *command, line);
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
  app.set_version_flag("--version", std::string("dsbuild ") + k_version, "The version");
  app.set_help_all_flag("--help-all", "Every option of every command");
  app.add_flag("--help-man", line.wants_man_page, "The man page, for `man -l`")->group(group(show_all));
  app.require_subcommand(0, 1);
  add_selection_options(app, line.arguments);
  add_more_options(app, line.arguments, show_all);
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

Error bad_option(const std::string& what) {
  return make_error(Exit::usage, "bad_option", "command line", what,
                    "`dsbuild --help` lists commands and options.");
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

bool has_word(int argc, const char* const* argv, const std::string& word) {
  return std::any_of(argv + 1, argv + argc, [&](const char* argument) { return argument == word; });
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  const bool show_all = has_word(argc, argv, "--help-all");
  CLI::App app("", "dsbuild");
  declare(app, line, show_all);
  for (int i = 0; i < argc; ++i)
    line.as_typed += (i ? " " : "") + shell_quote(argv[i]);
  // Its words hold compilers' commands, whose options are none of ours.
  if (argc > 1 && std::string_view(argv[1]) == "action") {
    line.command = argv[1];
    line.operands.assign(argv + 2, argv + argc);
    return line;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    line.answer = std::string("dsbuild ") + k_version + "\n";
  } catch (const CLI::CallForAllHelp&) {
    line.answer = one_blank_line(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    line.answer = one_blank_line(chosen.empty() ? app.help() : chosen.front()->help(app.get_name()));
  } catch (const CLI::ExtrasError&) {
    return tl::unexpected<Error>(bad_option(unknown_word(app)));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Error>(bad_option(plainly(error.what())));
  }
  for (const CLI::App* chosen : app.get_subcommands())
    line.command = chosen->get_name();
  if (line.wants_man_page) line.answer = render_man_page(describe_interface(app));
  return line;
}

Interface command_line_interface() {
  CommandLine line;
  CLI::App app("", "dsbuild");
  declare(app, line, true);
  return describe_interface(app);
}

}  // namespace dsbuild
