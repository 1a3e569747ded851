// What a message code means, with what a test saw of it: for `dsbuild help CODE` and SARIF's rules. The
// meaning is that of the table of codes, the examples are those of docs/reference/messages.md.
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
  std::string message;    // as a terminal shows it, with its fix
  std::string exit_code;  // "2"
  bool operator==(const MessageExample&) const = default;
};
struct MessageHelp {
  std::string code, meaning;
  std::vector<MessageExample> examples;
};

std::vector<std::string> message_codes();
// `page`: the text of k_messages_page; "" where it is not there. nullopt: no message has the code.
std::optional<MessageHelp> find_message_help(std::string_view code, std::string_view page);
// The code in a word as messages show it: "error[no_gpu]:" -> "no_gpu".
std::string code_in(const std::string& word);

std::string render_message_help(const MessageHelp& help);
std::string render_message_help_json(const MessageHelp& help);

}  // namespace dsbuild
