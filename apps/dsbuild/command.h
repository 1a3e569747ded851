// A command: one file command_<name>.cpp with its row and its function, one word in commands.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "driver/request.h"
#include "driver/session.h"
#include "option_uses.h"
#include "report/report.h"
#include "settings/given_options.h"
#include "settings/options.h"
#include "sys/system.h"
#include "sys/terminal.h"

namespace dsbuild {

struct CommandContext {
  const CommandLine& line;
  System& system;
  Terminal terminal;
  Path data_dir;  // share/dsbuild or the checkout
};

// A line that a user could type, for --help and the man page.
struct Example {
  const char* line;
  const char* what;
};

// What a command takes beside its options.
struct Operands {
  std::string name, type, help;
  int most = 0;                           // 0: any number
  std::vector<std::string> stands_for{};  // options that say the same, and nothing beside an operand
};

struct CommandRow {
  std::string name{};
  std::string help{};
  // The exit code, or the error that main prints.
  Result<int> (*run)(const CommandContext& context) = nullptr;
  std::vector<Example> examples{};  // `dsbuild --help` shows the first (of build two)
  std::vector<Option> options{};    // its own
  std::vector<OptionUses> uses{};   // of those in settings/options.h, besides those that all use
  std::optional<Operands> operands{};
  bool hidden = false;
  bool reads_settings = true;      // variables and config files; no: what is typed alone counts
  bool reads_project_file = true;  // dsbuild.yaml; no: what it does must not depend on the current folder
};
const std::vector<CommandRow>& commands();

// Results go to stdout; everything for people's eyes only goes to stderr. A stdout that cannot be written is
// exit 1. All text leaves through these, and text of others may be part of any: what a terminal would obey is
// made visible (base/text.h), but the colours of `style`; what GitHub's runner would obey is broken up, but
// where `style` has annotations, whose renderers have done it.
Result<void> print_result(std::string_view text, const Style& style = {});
void print_message(std::string_view text, const Style& style = {});
// What a command did, which is no answer: nothing with -q, where errors alone are said.
Result<void> print_done(const Settings& settings, const std::string& json, const std::string& text,
                        const Style& style = {});
// For programs, byte for byte.
Result<void> print_document(std::string_view text);
// The live line of lib/ninja/progress.h, which has made its text visible itself.
void print_drawn(std::string_view line);
// What a tool said, with its colours.
void print_tool_output(std::string_view text);

// What the command line, the environment and config files ask for.
Result<Request> load_request(const CommandContext& context);

// 0, or under --strict exit 3 with its message when a selected op was skipped.
int strict_exit(const ArchPlan& archs, const Settings& settings, const CommandContext& context);

// What was asked of a bundle and is not so, as errors, where the output is not JSON, which has them itself.
// 1, or 0 where there is none.
int gate_exit(const Verdict& verdict, bool json, const Style& style);

// Of a command that runs another: what stands behind `--`. Error: exit 2 `bad_option`.
Result<std::vector<std::string>> command_to_run(const CommandLine& line);
// Where a folder for a while is made: TMPDIR, else /tmp.
Path temporary_parent(const Settings& settings);

// "mypack" of "./mypack/".
std::string name_of_folder(const Path& folder);
// The bundle that a command's operand names, else --out.
Path named_bundle(const Settings& settings, const CommandContext& context);

// "op", "pack", "config", "policy", then the answers of --json.
std::vector<std::string> schema_names(const CommandContext& context);

// GITHUB_WORKSPACE, else the nearest folder above with .git.
Repository repository_of_pipeline(const System& system);
// An error may come before there are settings. `color`: what --color was given.
Style error_style(const std::optional<std::string>& color, const Terminal& terminal, const System& system);
Style style_for(const Settings& settings, const CommandContext& context, bool to_stderr);
// A line each; "" where the output is JSON, which has them itself, or is to be little.
std::string warnings_text(const std::vector<Warning>& warnings, const Settings& settings,
                          const CommandContext& context);
void print_warnings(const std::vector<Warning>& warnings, const Settings& settings,
                    const CommandContext& context);

}  // namespace dsbuild
