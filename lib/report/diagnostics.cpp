// What tools said, for people and machines. Colours are ours: tools write none into a pipe, and what the
// cache keeps must be the same whoever asked.
#include "report/json_parts.h"

namespace dsbuild {
namespace {

const char* colour_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "91";
    case Severity::warning:
      return "95";
    case Severity::note:
      return "96";
  }
  return "0";
}

bool is_caret_line(std::string_view line) {
  return line.find('^') != std::string_view::npos && line.find_first_not_of(" |^~") == std::string_view::npos;
}

// "a.cu(5): error: x": the place bold, the severity in its colour.
std::string coloured(const std::string& line, const Diagnostic& diagnostic, const Style& style) {
  if (is_caret_line(line)) return style.good(line);
  const std::string word = key_of(diagnostic.severity);
  const size_t at = line.find(word);
  const bool is_head = at != std::string::npos && line.ends_with(diagnostic.message);
  if (!is_head) return line;
  return style.bold(line.substr(0, at)) + style.paint(colour_of(diagnostic.severity), word) +
         line.substr(at + word.size());
}

}  // namespace

std::string render_diagnostic(const ToolDiagnostic& told, const Style& style) {
  std::string text;
  for (const std::string& line : split_lines(told.diagnostic.text))
    text += coloured(line, told.diagnostic, style) + "\n";
  if (!told.archs.empty()) text += "  only for " + arch_text(told.archs) + "\n";
  if (!style.annotate) return text;
  text = without_commands(text);
  return "::group::" + told.edge->op + "\n" + text + render_annotation(told, style.repository) +
         "::endgroup::\n";
}

std::string render_diagnostic_json(const ToolDiagnostic& told) {
  const Diagnostic& diagnostic = told.diagnostic;
  return json_line({{"event", "diagnostic"},
                    {"op", told.edge->op},
                    {"source", told.edge->source},
                    {"severity", key_of(diagnostic.severity)},
                    {"file", diagnostic.place.file},
                    {"line", diagnostic.place.line},
                    {"column", diagnostic.place.column},
                    {"message", diagnostic.message},
                    {"text", diagnostic.text},
                    {"archs", arch_strings(told.archs)}});
}

}  // namespace dsbuild
