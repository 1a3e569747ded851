#include "exec/record.h"

#include "base/build_layout.h"
#include "base/digest.h"
#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_version = "record 3";

// On one line.
std::string escaped(const std::string& text) {
  return replace_all(replace_all(text, "\\", "\\\\"), "\n", "\\n");
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    plain += is_escape && text[i] == 'n' ? '\n' : text[i];
  }
  return plain;
}

std::string line(std::string_view name, const std::string& value) {
  return value.empty() ? "" : std::string(name) + " " + escaped(value) + "\n";
}

std::string lines_of(std::string_view name, const std::vector<FileDigest>& files) {
  std::string text;
  for (const FileDigest& file : files)
    text += std::string(name) + " " + file.digest + " " + escaped(file.path) + "\n";
  return text;
}

FileDigest file_of(std::string_view value) {
  const size_t space = value.find(' ');
  return {unescaped(value.substr(std::min(space, value.size() - 1) + 1)),
          std::string(value.substr(0, space))};
}

// "yes first" and, on the next line, the second.
std::string equal_lines(const EqualFiles& files) {
  return std::string("equal ") + (files.same_time ? "yes " : "no ") + escaped(files.first) + "\n" + "to " +
         escaped(files.second) + "\n";
}

void take(std::string_view name, std::string_view value, Record& record) {
  if (name.starts_with("key.")) record.key.add(std::string(name.substr(4)), unescaped(value));
  if (name == "result") record.result.digest = value;
  if (name == "result_list") record.result.arch_list = value;
  if (name == "images") record.images = value;
  if (name == "given") record.given = value;
  if (name == "input") record.inputs.push_back(file_of(value));
  if (name == "others") record.others = value;
  if (name == "search") record.search = value;
  if (name == "present") record.present = value;
  if (name == "output") record.outputs.push_back(file_of(value));
  if (name == "unsettled") record.unsettled = unescaped(value);
  if (name == "incomplete") record.incomplete = unescaped(value);
  if (name == "clock") record.clock = unescaped(value);
  if (name == "mtime") {
    const FileDigest file = file_of(value);
    record.file_times.push_back({file.path, whole_number<int64_t>(file.digest).value_or(-1)});
  }
  if (name.starts_with("said."))
    record.tool_output.push_back({std::string(name.substr(5)), unescaped(value)});
  if (name == "said_of") record.tool_output_source = value;
  if (name == "equal") {
    const FileDigest first = file_of(value);
    record.equal_files.push_back({first.path, "", first.digest == "yes"});
  }
  if (name == "to" && !record.equal_files.empty()) record.equal_files.back().second = unescaped(value);
}

}  // namespace

std::string render_record(const Record& record) {
  std::string text = std::string(k_version) + "\n";
  for (const KeyPart& part : record.key.parts)
    text += "key." + part.name + " " + escaped(part.value) + "\n";
  text += line("result", record.result.digest) + line("result_list", record.result.arch_list) +
          line("images", record.images) + line("given", record.given) + lines_of("input", record.inputs) +
          line("others", record.others) + line("search", record.search) + line("present", record.present);
  for (const EqualFiles& files : record.equal_files)
    text += equal_lines(files);
  for (const ToolOutput& output : record.tool_output)
    text += line("said." + output.tool, output.text);
  text += line("said_of", record.tool_output_source) + lines_of("output", record.outputs) +
          line("unsettled", record.unsettled) + line("incomplete", record.incomplete) +
          line("clock", record.clock);
  for (const FileTime& time : record.file_times)
    text += "mtime " + std::to_string(time.seconds) + " " + escaped(time.path) + "\n";
  return sha256(text) + "\n" + text;
}

std::optional<Record> parse_record(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, end) != sha256(text.substr(end + 1)))
    return std::nullopt;
  Record record;
  bool is_ours = false;
  for (const std::string& each : split_lines(text.substr(end + 1))) {
    is_ours = is_ours || each == k_version;
    const size_t space = each.find(' ');
    if (space != std::string::npos)
      take(std::string_view(each).substr(0, space), std::string_view(each).substr(space + 1), record);
  }
  return is_ours ? std::optional(record) : std::nullopt;
}

bool can_hold(const Record& record) {
  return record.unsettled.empty() && record.incomplete.empty() && record.clock.empty();
}

std::vector<ToolOutput> output_of_tool(const Record& record, std::string_view tool) {
  std::vector<ToolOutput> output = record.tool_output;
  std::erase_if(output, [&](const ToolOutput& one) { return one.tool != tool; });
  return output;
}

std::vector<ToolOutput> output_after_preprocessor(const Record& record) {
  std::vector<ToolOutput> output = record.tool_output;
  std::erase_if(output, [](const ToolOutput& one) { return one.tool == k_preprocessor; });
  return output;
}

void add_tool_output(Record& record, const char* tool, std::string text) {
  if (!text.empty()) record.tool_output.push_back({tool, std::move(text)});
}

bool names_lines_of(const Record& record, const std::string& lines) {
  return record.tool_output.empty() || lines.empty() || record.tool_output_source == lines;
}

std::string record_file(const std::string& output) {
  return output + k_record_end;
}

std::string old_record_file(const std::string& output) {
  return output + k_old_record_end;
}

}  // namespace dsbuild
