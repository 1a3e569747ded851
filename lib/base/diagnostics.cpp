#include "base/diagnostics.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace dsbuild {
namespace {

struct SeverityWord {
  std::string_view word;
  Severity severity;
};
// Where one is the end of another, the longer one first.
constexpr SeverityWord k_severity_words[] = {
    {"catastrophic error", Severity::error},
    {"fatal error", Severity::error},
    {"error", Severity::error},
    {"fatal", Severity::error},
    {"warning", Severity::warning},
    {"note", Severity::note},
    {"remark", Severity::note},
    {"info", Severity::note},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// The message behind a severity's word: ": …", "   : …" (tools of CUDA), " #177-D: …" (EDG), whose number
// stays. nullopt: the word was none of a severity.
std::optional<std::string> message_behind(std::string_view rest) {
  const std::string_view text = without_blanks_before(rest);
  if (text.starts_with(":")) return trim(text.substr(1));
  if (rest.starts_with(" #") && contains(rest, ": ")) return trim(text);
  return std::nullopt;
}

// What stands before the severity: a place, the name of a tool, or nothing.
std::optional<Place> place_before(std::string_view text) {
  if (text.empty()) return Place{};
  if (auto place = parse_place(text)) return place;
  return contains(text, " ") ? std::nullopt : std::optional(Place{});
}

// "ptxas /tmp/x.ptx, line 39": of the code that the tool made itself. The file is nobody's.
bool is_tool_with_line(std::string_view text) {
  return text.ends_with(";") && contains(text, ", line ");
}

struct Head {
  size_t at = 0;  // of the severity's word
  Diagnostic diagnostic;
};

std::optional<Head> head_by_word(std::string_view line, const SeverityWord& row) {
  for (size_t at = line.find(row.word); at != std::string_view::npos; at = line.find(row.word, at + 1)) {
    const auto message = message_behind(line.substr(at + row.word.size()));
    if (!message) continue;
    const std::string_view before = line.substr(0, at);
    if (before.ends_with("; ") && is_tool_with_line(before.substr(0, before.size() - 1)))
      return Head{at, {row.severity, {}, *message, {}}};
    if (!before.empty() && !before.ends_with(": ") && !before.ends_with(" ")) continue;
    std::string_view prefix = before.ends_with(' ') ? before.substr(0, before.size() - 1) : before;
    if (prefix.ends_with(':')) prefix.remove_suffix(1);
    if (const auto place = place_before(prefix)) return Head{at, {row.severity, *place, *message, {}}};
  }
  return std::nullopt;
}

// The linker has no word for an error.
std::optional<Diagnostic> head_of_linker(std::string_view line) {
  constexpr std::string_view k_name = "ld: ";
  const size_t reference = line.find(": undefined reference to ");
  if (reference != std::string_view::npos)
    return Diagnostic{Severity::error, {}, std::string(line.substr(reference + 2)), {}};
  const size_t name = line.find(k_name);
  if (name == std::string_view::npos || contains(line.substr(0, name), " ")) return std::nullopt;
  return Diagnostic{Severity::error, {}, std::string(line.substr(name + k_name.size())), {}};
}

std::optional<Diagnostic> head_of(std::string_view line) {
  if (line.empty() || line.front() == ' ') return std::nullopt;
  std::optional<Head> first;  // a message may name another severity
  for (const SeverityWord& row : k_severity_words)
    if (auto head = head_by_word(line, row); head && (!first || head->at < first->at))
      first = std::move(head);
  return first ? std::optional(std::move(first->diagnostic)) : head_of_linker(line);
}

// What leads to the diagnostic that follows.
bool leads_to_next(std::string_view line) {
  if (line.starts_with("In file included from ") || line.starts_with("                 from ")) return true;
  if (line.empty() || line.front() == ' ') return false;
  const bool names_scope =
      contains(line, ": In ") || contains(line, ": At ") || contains(line, ": in function ");
  return (names_scope && line.ends_with(":")) || (contains(line, ": In instantiation of ")) ||
         contains(line, ":   required ") || contains(line, ":   recursively required ");
}

bool is_count_or_hint(std::string_view line) {
  const bool counts = !line.empty() && line.front() >= '0' && line.front() <= '9' &&
                      (contains(line, " detected in the compilation of ") || line.ends_with(" generated."));
  return counts || line == "compilation terminated." ||
         line.starts_with("Remark: The warnings can be suppressed") ||
         line.starts_with("collect2: error: ld returned ") || line.starts_with("Compilation terminated.");
}

// Puts lines together.
class Blocks {
 public:
  void take(const std::string& line) {
    if (is_count_or_hint(line) || trim(line).empty()) {
      is_open_ = false;
    } else if (auto head = leads_to_next(line) ? std::nullopt : head_of(line)) {
      begin(std::move(*head), line);
    } else if (leads_to_next(line) || !lead_.empty()) {
      lead_ += line + "\n";
    } else if (is_open_) {
      all_.back().text += line + "\n";
    } else {
      begin({Severity::note, {}, trim(line), {}}, line);
      is_note_of_its_own_ = true;
    }
  }

  std::vector<Diagnostic> end() {
    if (!lead_.empty()) begin({Severity::note, {}, trim(split_lines(lead_).front()), {}}, "");
    return std::move(all_);
  }

 private:
  void begin(Diagnostic head, const std::string& line) {
    const bool belongs_to_last =
        head.severity == Severity::note && !head.place.file.empty() && !all_.empty() && !is_note_of_its_own_;
    if (!belongs_to_last) {
      all_.push_back(std::move(head));
      is_note_of_its_own_ = false;
    }
    all_.back().text += lead_ + (line.empty() ? "" : line + "\n");
    lead_.clear();
    is_open_ = true;
  }

  std::vector<Diagnostic> all_;
  std::string lead_;
  bool is_open_ = false;             // the last one may go on
  bool is_note_of_its_own_ = false;  // the last one is none that notes belong to
};

}  // namespace

std::vector<Diagnostic> parse_diagnostics(std::string_view output) {
  Blocks blocks;
  for (const std::string& line : split_lines(printable(output)))
    blocks.take(line);
  return blocks.end();
}

const char* key_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "";
}

}  // namespace dsbuild
