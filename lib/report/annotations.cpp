// Annotations of GitHub Actions: "::error file=a.cpp,line=3,title=…::text", one line each.
#include <algorithm>

#include "ninja/progress.h"
#include "report/report.h"

namespace dsbuild {
namespace {

// The older form of a command, which the runner looks for anywhere in a line.
std::string without_old_commands(const std::string& text) {
  return replace_all(text, "##[", "## [");
}

std::string escaped_text(const std::string& text) {
  return replace_all(replace_all(replace_all(without_old_commands(text), "%", "%25"), "\r", "%0D"), "\n",
                     "%0A");
}

// The runner skips what is blank to it, which more than ASCII's blanks are.
bool is_before_command(char c) {
  return c == ' ' || c == '\t' || static_cast<unsigned char>(c) >= 0x80;
}

std::string without_command(const std::string& line) {
  const auto start = std::ranges::find_if_not(line, is_before_command);
  const std::string_view rest(start, line.end());
  if (!rest.starts_with("::")) return line;
  return std::string(line.begin(), start) + ": " + std::string(rest.substr(1));
}

// In a property, what separates properties is escaped too.
std::string escaped_property(const std::string& text) {
  return replace_all(replace_all(escaped_text(text), ":", "%3A"), ",", "%2C");
}

// GitHub knows files by their paths in the repository.
std::string path_in_repository(const std::string& file, const Repository& repository) {
  if (repository.root.empty()) return file;
  return path_below(repository.root, (repository.current / file).lexically_normal()).value_or(file).string();
}

std::string properties(const std::string& title, const Place& place, const Repository& repository) {
  std::string text;
  if (!place.file.empty())
    text += "file=" + escaped_property(path_in_repository(place.file, repository)) + ",";
  if (place.line > 0) text += "line=" + std::to_string(place.line) + ",";
  if (place.column > 0) text += "col=" + std::to_string(place.column) + ",";
  return text + "title=" + escaped_property(title);
}

}  // namespace

std::string without_commands(std::string_view text) {
  if (text.find("::") == text.npos && text.find("##[") == text.npos) return std::string(text);
  std::string kept;
  for (const std::string& line : split_lines(text))
    kept += without_old_commands(without_command(line)) + "\n";
  if (!text.ends_with('\n')) kept.pop_back();
  return kept;
}

std::string render_annotation(const std::string& level, const Message& message,
                              const Repository& repository) {
  const auto place = parse_place(message.where);
  std::string text = place || message.where.empty() ? "" : message.where + ": ";
  text += message.what;
  if (!message.fix.empty()) text += "\nfix: " + message.fix;
  return "::" + level + " " + properties("dsbuild " + message.code, place.value_or(Place{}), repository) +
         "::" + escaped_text(text) + "\n";
}

std::string render_annotation(const ToolDiagnostic& told, const Repository& repository) {
  const Diagnostic& diagnostic = told.diagnostic;
  const char* const level = diagnostic.severity == Severity::note ? "notice" : key_of(diagnostic.severity);
  return std::string("::") + level + " " +
         properties("dsbuild " + edge_title(*told.edge), diagnostic.place, repository) +
         "::" + escaped_text(trim(diagnostic.text)) + "\n";
}

std::string render_annotation(const EdgeFailure& failure, const Repository& repository) {
  std::string text = failure.first_error.empty() ? "failed" : failure.first_error;
  if (!failure.hint.empty()) text += "\nfix: " + failure.hint;
  return "::error " + properties("dsbuild " + edge_title(failure.edge), failure.place, repository) +
         "::" + escaped_text(text) + "\n";
}

}  // namespace dsbuild
