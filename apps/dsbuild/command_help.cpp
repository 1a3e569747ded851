// help: what a message means. The help of commands is an answer of the command line itself
// (command_line.cpp).
#include "command.h"
#include "interface.h"
#include "report/message_help.h"

namespace dsbuild {
namespace {

Result<int> run_help(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "help", "no command or message named",
                "`dsbuild --help` lists the commands; messages show their code: error[CODE].");
  const std::string word = context.line.operands.front();
  const std::string page =
      context.system.files.read_file(context.data_dir / k_messages_page).value_or(std::string());
  const std::string code = code_in(word);
  const auto help = find_message_help(code, page);
  if (!help) {
    std::vector<std::string> known = message_codes();
    for (const CommandInfo& command : command_line_interface().commands)
      known.push_back(command.name);
    return fail(Exit::usage, "bad_option", "help",
                "no command or message '" + printable(code) + "'" + did_you_mean(code, known),
                "`dsbuild help` lists the commands; messages show their code: error[CODE].");
  }
  const bool json = context.line.arguments.find("--json").has_value();
  DSBUILD_CHECK(print_result(json ? render_message_help_json(*help) : render_message_help(*help)));
  return 0;
}

}  // namespace

CommandRow help_command() {
  return {
      .name = "help",
      .help = "Show the help of a command, or what a message means",
      .run = run_help,
      .examples = {{"dsbuild help plan", "what a command does and takes"},
                   {"dsbuild help unknown_arch", "what error[unknown_arch] means, examples, how to fix it"}},
      .operands = Operands{"word", "COMMAND|CODE", "A command, or a message's code", 1},

      .reads_settings = false,
      .reads_project_file = false};
}

}  // namespace dsbuild
