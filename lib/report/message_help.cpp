#include "report/message_help.h"

#include <algorithm>

#include "base/message_code.h"
#include "base/text.h"
#include "report/json_parts.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_fence = "```\n", k_exit = "exit code ";

// What stands between the code's heading and the next one.
std::string_view section_of(std::string_view code, std::string_view page) {
  const std::string heading = "\n## " + std::string(code) + "\n";
  const size_t begin = page.find(heading);
  if (begin == std::string_view::npos) return {};
  page.remove_prefix(begin + heading.size());
  return page.substr(0, page.find("\n## "));
}

// A block of the page: its command, the message, "exit code N".
MessageExample read_example(const std::string& block) {
  std::vector<std::string> lines = split(block, "\n");
  MessageExample example;
  if (lines.size() < 2) return example;
  example.command = lines.front();
  if (lines.back().starts_with(k_exit)) {
    example.exit_code = lines.back().substr(k_exit.size());
    lines.pop_back();
  }
  lines.erase(lines.begin());
  example.message = join(lines, "\n") + "\n";
  return example;
}

std::vector<MessageExample> read_examples(std::string_view section) {
  std::vector<MessageExample> examples;
  for (size_t begin = section.find(k_fence); begin != std::string_view::npos; begin = section.find(k_fence)) {
    section.remove_prefix(begin + k_fence.size());
    const size_t end = section.find(k_fence);
    examples.push_back(read_example(std::string(section.substr(0, end))));
    section.remove_prefix(std::min(end, section.size() - k_fence.size()) + k_fence.size());
  }
  return examples;
}

}  // namespace

std::vector<std::string> message_codes() {
  std::vector<std::string> codes;
  for (const MessageMeaning& message : k_messages)
    codes.emplace_back(message.code);
  return codes;
}

std::optional<MessageHelp> find_message_help(std::string_view code, std::string_view page) {
  const auto found = std::ranges::find(k_messages, code, &MessageMeaning::code);
  if (found == std::end(k_messages)) return std::nullopt;
  return MessageHelp{std::string(found->code), std::string(found->meaning),
                     read_examples(section_of(code, page))};
}

std::string code_in(const std::string& word) {
  const size_t open = word.find('['), close = word.find(']');
  return open < close && close != std::string::npos ? word.substr(open + 1, close - open - 1) : word;
}

std::string render_message_help(const MessageHelp& help) {
  std::string text = help.code + ": " + help.meaning + "\n";
  for (const MessageExample& example : help.examples) {
    const std::string lines =
        example.command + "\n" + example.message + std::string(k_exit) + example.exit_code;
    text += "\n  " + replace_all(lines, "\n", "\n  ") + "\n";
  }
  return text;
}

std::string render_message_help_json(const MessageHelp& help) {
  Json json = json_document();
  json["code"] = help.code;
  json["meaning"] = help.meaning;
  json["examples"] = Json::array();
  for (const MessageExample& example : help.examples)
    json["examples"].push_back(
        {{"command", example.command}, {"message", example.message}, {"exit_code", example.exit_code}});
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
