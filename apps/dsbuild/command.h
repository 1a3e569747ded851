// The commands of the program. Each is a file command_<name>.cpp with its row and its function, and a word in
// commands.cpp.
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

// An example command line for --help and the man page.
struct Example {
  const char* line;
  const char* what;
};

// The arguments of a command that are no options.
struct Operands {
  std::string name, type, help;
  int most = 0;  // 0: any number
  // Options that mean the same as an operand; with an operand they are not used.
  std::vector<std::string> stands_for{};
};

struct CommandRow {
  std::string name{};
  std::string help{};
  // The exit code, or the error that main prints.
  Result<int> (*run)(const CommandContext& context) = nullptr;
  std::vector<Example> examples{};  // `dsbuild --help` shows the first (of build two)
  std::vector<Option> options{};    // options of this command alone
  // The topics of settings/options.h that it uses, besides those that all use.
  std::vector<OptionUses> uses{};
  std::optional<Operands> operands{};
  bool hidden = false;
  bool reads_settings = true;  // reads variables and config files; false: only the command line counts
  // Reads dsbuild.yaml; false: the command must not depend on the current folder.
  bool reads_project_file = true;
};
const std::vector<CommandRow>& commands();

// These functions write all output. Results go to stdout, messages for people to stderr. If stdout cannot be
// written, the error is exit 1. A text may contain text from files or tools. So control characters are made
// visible (base/text.h), except the colours of `style`. Commands for GitHub's runner are broken up, unless
// `style` has annotations: their renderers have done so already.
Result<void> print_result(std::string_view text, const Style& style = {});
void print_message(std::string_view text, const Style& style = {});
// Prints a confirmation of what a command did. Prints nothing with -q, except JSON.
Result<void> print_done(const Settings& settings, const std::string& json, const std::string& text,
                        const Style& style = {});
// Prints a document for programs, byte for byte.
Result<void> print_document(std::string_view text);
// Prints the live line of lib/ninja/progress.h, which has already made control characters visible.
void print_drawn(std::string_view line);
// Prints a tool's output to stderr, with its colours.
void print_tool_output(std::string_view text);

// Makes the request from the command line, the environment and config files.
Result<Request> load_request(const CommandContext& context);

// Returns 0. With --strict, prints a message and returns 3 if a selected op was skipped.
int strict_exit(const ArchPlan& archs, const Settings& settings, const CommandContext& context);

// Prints the failed checks of a bundle as errors, unless the output is JSON, which has them already. Returns
// 1, or 0 if no check failed.
int gate_exit(const Verdict& verdict, bool json, const Style& style);

// The words after `--`, for commands that run a program. Error: exit 2 `bad_option` if there are none, or if
// there are operands.
Result<std::vector<std::string>> command_to_run(const CommandLine& line);
// The folder for temporary folders: TMPDIR, else /tmp.
Path temporary_parent(const Settings& settings);

// "./mypack/" -> "mypack".
std::string name_of_folder(const Path& folder);
// The bundle that a command's operand names, else --out.
Path named_bundle(const Settings& settings, const CommandContext& context);

// The names of all JSON schemas: "op", "pack", "config", "policy", then those of --json outputs.
std::vector<std::string> schema_names(const CommandContext& context);

// The repository: GITHUB_WORKSPACE, else the nearest folder with .git, from the current one upward.
Repository repository_of_pipeline(const System& system);
// The style for an error, which may come before settings are known. `color`: the value of --color.
Style error_style(const std::optional<std::string>& color, const Terminal& terminal, const System& system);
Style style_for(const Settings& settings, const CommandContext& context, bool to_stderr);
// The warnings as lines. "" for JSON output, which has them already, and with -q.
std::string warnings_text(const std::vector<Warning>& warnings, const Settings& settings,
                          const CommandContext& context);
void print_warnings(const std::vector<Warning>& warnings, const Settings& settings,
                    const CommandContext& context);

}  // namespace dsbuild
