#include "report/json_parts.h"

namespace dsbuild {
namespace {

std::string indented(const std::string& text) {
  return replace_all(text, "\n", "\n       ");
}

// "error[unknown_arch]: …": the code finds the message in docs/reference/messages.md.
std::string head(const char* kind, const Message& message) {
  return std::string(kind) + "[" + message.code + "]: ";
}

std::string render_message(const std::string& start, const Message& message) {
  std::string text = start + (message.where.empty() ? "" : message.where + ": ") + message.what + "\n";
  if (!message.fix.empty()) text += "  fix: " + indented(message.fix) + "\n";
  return text;
}

}  // namespace

std::string Style::paint(const char* ansi_code, const std::string& text) const {
  return color ? std::string("\x1b[") + ansi_code + "m" + text + "\x1b[0m" : text;
}
std::string Style::good(const std::string& text) const {
  return paint("92", text);
}
std::string Style::bad(const std::string& text) const {
  return paint("91", text);
}
std::string Style::warn(const std::string& text) const {
  return paint("93", text);
}
std::string Style::bold(const std::string& text) const {
  return paint("1", text);
}

std::string render_error(const Error& error, const Style& style) {
  std::vector<Message> all = {error};
  all.insert(all.end(), error.others.begin(), error.others.end());
  std::string text;
  for (const Message& one : all)
    text += without_commands(render_message(style.bad(head("error", one)), one)) +
            (style.annotate ? render_annotation("error", one, style.repository) : "");
  return text;
}

std::string render_warning(const Warning& warning, const Style& style) {
  return without_commands(render_message(style.warn(head("warning", warning)), warning)) +
         (style.annotate ? render_annotation("warning", warning, style.repository) : "");
}

std::string render_error_json(const Error& error) {
  Json json = json_document();
  json["error"] = error_json(error);
  return json_line(json);
}

}  // namespace dsbuild
