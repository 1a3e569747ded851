#include "load/builder_note.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace dsbuild {
namespace {

constexpr const char* k_recorded = "recorded";

std::string as_milliseconds(double seconds) {
  return std::to_string(std::llround(seconds * 1000));
}

// A line of its own.
std::string one_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

double seconds_at(const std::map<std::string, std::string>& words, const std::string& name) {
  const auto found = words.find(name);
  if (found == words.end()) return 0;
  return static_cast<double>(whole_number<unsigned long long>(found->second).value_or(0)) / 1000;
}

std::string whole_seconds(double seconds) {
  return std::to_string(std::llround(std::max(seconds, 0.0))) + " s";
}

}  // namespace

std::string render_note(const BuilderNote& note) {
  return "node " + one_line(note.node) + "\nbegun " + as_milliseconds(note.begun) + "\nexpected " +
         as_milliseconds(note.expected_seconds) + "\nby " + (note.is_recorded ? k_recorded : "guess") +
         "\nphase " + one_line(note.phase) + "\n";
}

std::optional<BuilderNote> parse_note(const std::string& told) {
  const std::vector<std::string> lines = split_lines(told);
  std::map<std::string, std::string> words;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t blank = lines[i].find(' ');
    if (blank != std::string::npos) words[lines[i].substr(0, blank)] = lines[i].substr(blank + 1);
  }
  if (words.count("begun") == 0 || words.count("phase") == 0) return std::nullopt;
  BuilderNote note;
  note.holder = printable(lines.front());
  note.node = printable(words["node"]);
  note.begun = seconds_at(words, "begun");
  note.expected_seconds = seconds_at(words, "expected");
  note.is_recorded = words["by"] == k_recorded;
  note.phase = printable(words["phase"]);
  return note;
}

double seconds_of(const Patience& patience, const BuilderNote& note) {
  const bool is_recorded = note.is_recorded && note.expected_seconds > 0;
  return std::max(is_recorded ? patience.least : patience.least_guessed,
                  patience.factor * note.expected_seconds);
}

std::string waiting_text(const BuilderNote& note, const std::string& op, double now) {
  const std::string process = note.holder.substr(0, note.holder.find(' '));
  std::string text = "waiting for process " + process + " on " + note.node + ", which has been building " +
                     op + " for " + whole_seconds(now - note.begun) + " (" + note.phase + ")";
  if (note.expected_seconds > 0)
    text += "; it takes about " + whole_seconds(std::max(note.expected_seconds, 1.0)) + " in all" +
            (note.is_recorded ? "" : ", as a guess");
  return text;
}

}  // namespace dsbuild
