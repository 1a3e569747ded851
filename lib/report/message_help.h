// Describes a message code, for `dsbuild help CODE` and SARIF's rules. The meaning is from the table of codes
// (base/message_code.h). The examples are from docs/reference/messages.md, where they are the output of
// tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// Below share/dsbuild, or the checkout.
inline constexpr const char* k_messages_page = "docs/reference/messages.md";

struct MessageExample {
  std::string command;    // "$ dsbuild plan --arch 9.9"
  std::string message;    // as on a terminal, with its fix
  std::string exit_code;  // "2"
  bool operator==(const MessageExample&) const = default;
};
struct MessageHelp {
  std::string code, meaning;
  std::vector<MessageExample> examples;
};

std::vector<std::string> message_codes();
// `page`: the text of k_messages_page; "": there is no such file. nullopt: no message has this code.
std::optional<MessageHelp> find_message_help(std::string_view code, std::string_view page);
// Takes the code out of a word of a message: "error[no_gpu]:" -> "no_gpu".
std::string code_in(const std::string& word);

std::string render_message_help(const MessageHelp& help);
std::string render_message_help_json(const MessageHelp& help);

}  // namespace dsbuild
