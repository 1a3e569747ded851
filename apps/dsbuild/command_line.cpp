#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/version.h"
#include "command.h"

namespace dsbuild {
namespace {

const char* const k_examples = R"(
Examples:
  dsbuild --ops all --arch "7.0;8.0+PTX"     build every op for V100 and A100, PTX for what comes later
  dsbuild --ops fused_adam,cpu_adam          two ops, for the default archs of the toolkit
  dsbuild plan --arch "8.0;9.0a"             what would be built, dropped and why
  dsbuild report                             what is installed, what this machine can build
  dsbuild inspect lib.so                     the device images inside a binary
  dsbuild toolkits get 11.8                  CUDA 11.8 into your cache folder, for 7.0 and older

Archs: 8.0, 80, sm_80, compute_80, 8.0+PTX, 9.0a, 100f, Ampere, native, all, all-major; separated by ; , or blanks.
Variables: DS_BUILD_OPS, DS_BUILD_<OP>, TORCH_CUDA_ARCH_LIST, CUDA_HOME, MAX_JOBS, CXX, NO_COLOR … (docs/cli.md).
Exit codes: 0 done, 1 a step failed, 2 usage, 3 the request cannot be met, 75 lock time-out.
)";

// Options of the second screen are in a group without a name unless all help is asked for: CLI11 hides those.
const char* group(bool show_all) {
  return show_all ? "More options" : "";
}

void add_selection_options(CLI::App& app, Arguments& a) {
  app.add_option("--ops", a.ops, "Ops to build: all, or names; -NAME leaves one out (\"all,-quantizer\")")
      ->type_name("LIST");
  app.add_option("--arch", a.arch, "Architectures (TORCH_CUDA_ARCH_LIST)")->type_name("LIST");
  app.add_option("--out", a.out, "The bundle's folder [dsbuild-out]")->type_name("DIR");
  app.add_option("--build-dir", a.build_dir, "Where objects, logs and build.ninja go [.dsbuild]")
      ->type_name("DIR");
  app.add_option("--cuda-home", a.cuda_home, "The CUDA toolkit to use, no other")->type_name("DIR");
  app.add_option("--config", a.config, "A preset (docker, ci, dev) or a YAML file")->type_name("FILE|PRESET");
  app.add_option("--jobs,-j", a.jobs, "Edges run at a time (MAX_JOBS) [by cores and memory]")->type_name("N");
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
      ->type_name("NAME|DIR")
      ->group(more);
  app.add_option("--source", a.source, "Source root of the pack")->type_name("DIR")->group(more);
  app.add_option("--color", a.color, "auto, always or never (NO_COLOR)")->type_name("WHEN")->group(more);
  app.add_option("--compress-mode", a.compress_mode,
                 "nvcc --compress-mode: default, size, speed, balance, none")
      ->type_name("MODE")
      ->group(more);
  app.add_option("--memory", a.memory, "Memory that all edges may use together: 8GiB [what is available]")
      ->type_name("SIZE")
      ->group(more);
  app.add_option("--lock-timeout", a.lock_timeout, "Seconds to wait for another dsbuild [for ever]")
      ->type_name("SECONDS")
      ->group(more);
  app.add_flag("--allow-disjoint-archs", a.allow_disjoint_archs, "Build even if no arch is common to all ops")
      ->group(more);
  app.add_flag("--drop-unsupported-archs", a.drop_unsupported_archs,
               "Leave out archs that the toolkit cannot target")
      ->group(more);
  app.add_flag("--offline", a.offline, "Fetch nothing")->group(more);
}

void add_commands(CLI::App& app, CommandLine& line) {
  for (const CommandRow& row : commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help)->fallthrough();
    if (row.hidden) command->group("");
    command->footer("\nThe options of `dsbuild --help` apply too.\n");
    const std::string name = row.name;
    if (name == "plan")
      command->add_option("--format", line.format, "table, json, env or flags")
          ->check(CLI::IsMember({"table", "json", "env", "flags"}));
    if (name == "inspect")
      command->add_option("files", line.operands, "Binary files or folders")->type_name("FILE|DIR");
    if (name == "verify")
      command->add_option("bundle", line.operands, "The bundle [--out]")->type_name("BUNDLE");
    if (name == "toolkits") {
      command->add_flag("--for", line.for_request, "Say what it takes to build for the options given");
      command->add_option("get", line.operands,
                          "`get 11.8` or `get 13.5`: fetch one into the user's cache folder");
    }
    if (name == "clean") command->add_flag("--bundle", line.with_bundle, "Remove the bundle too");
    if (name == "step") command->add_option("words", line.operands);
  }
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

bool has_word(int argc, const char* const* argv, const std::string& word) {
  return std::any_of(argv + 1, argv + argc, [&](const char* argument) { return argument == word; });
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  const bool show_all = has_word(argc, argv, "--help-all");
  CLI::App app("Builds collections of GPU operators ahead of time into a bundle of fat shared libraries.",
               "dsbuild");
  app.footer(k_examples);
  app.set_version_flag("--version", std::string("dsbuild ") + k_version);
  app.set_help_all_flag("--help-all", "Every option of every command");
  app.require_subcommand(0, 1);
  add_selection_options(app, line.arguments);
  add_more_options(app, line.arguments, show_all);
  add_commands(app, line);
  for (int i = 0; i < argc; ++i)
    line.as_typed += (i ? " " : "") + shell_quote(argv[i]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    line.answer = std::string("dsbuild ") + k_version + "\n";
  } catch (const CLI::CallForAllHelp&) {
    line.answer = app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    line.answer = chosen.empty() ? app.help() : chosen.front()->help(app.get_name());
  } catch (const CLI::ExtrasError&) {
    return tl::unexpected<Error>(bad_option(unknown_word(app)));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Error>(bad_option(plainly(error.what())));
  }
  for (const CLI::App* chosen : app.get_subcommands())
    line.command = chosen->get_name();
  return line;
}

}  // namespace dsbuild
