#include "exec/tool_result.h"

#include <algorithm>

#include "base/digest.h"

namespace dsbuild {
namespace {

// After the outputs, where there is anything to say of them: "said_of DIGEST", then for each tool
// "said TOOL BYTES" and its text.
constexpr const char* k_about = "/about";  // no output's name

std::string about(const ToolResult& result) {
  std::string text;
  if (!result.tool_output.empty() && !result.tool_output_source.empty())
    text += "said_of " + result.tool_output_source + "\n";
  for (const ToolOutput& output : result.tool_output)
    text += "said " + output.tool + " " + std::to_string(output.text.size()) + "\n" + output.text;
  return text;
}

// false: damaged.
bool read_about(std::string_view text, ToolResult& result) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    const std::vector<std::string> words = split(std::string(text.substr(0, end)), " ");
    text.remove_prefix(end + 1);
    if (words.size() == 2 && words[0] == "said_of") {
      result.tool_output_source = words[1];
    } else {
      const auto size = words.size() == 3 ? whole_number<size_t>(words[2]) : std::nullopt;
      if (!size || *size > text.size()) return false;
      result.tool_output.push_back({words[1], std::string(text.substr(0, *size))});
      text.remove_prefix(*size);
    }
  }
  return true;
}

}  // namespace

const std::string* ToolResult::find(std::string_view name) const {
  const auto found = std::ranges::find(outputs, name, &StoredFile::name);
  return found == outputs.end() ? nullptr : &found->bytes;
}

uint64_t milliseconds_of(const CacheEntry& outputs) {
  uint64_t sum = 0;
  for (const StoredFile& output : outputs)
    sum += output.milliseconds;
  return sum;
}

std::optional<ToolResult> ResultCache::find(const std::string& key, const std::vector<std::string>& names,
                                            const std::string& lines) const {
  auto entry = store_ && !key.empty() ? store_->find(key) : std::nullopt;
  if (!entry) return std::nullopt;
  ToolResult result{std::move(*entry), {}, {}};
  if (!result.outputs.empty() && result.outputs.back().name == k_about) {
    const std::string text = std::move(result.outputs.back().bytes);
    result.outputs.pop_back();
    if (!read_about(text, result)) return std::nullopt;
  }
  const bool is_whole = names.empty() || std::ranges::equal(result.outputs, names, {}, &StoredFile::name);
  const bool is_of_lines = result.tool_output.empty() || lines.empty() || result.tool_output_source == lines;
  return is_whole && is_of_lines ? std::optional(std::move(result)) : std::nullopt;
}

void ResultCache::put(const std::string& key, const ToolResult& result) const {
  if (!store_ || key.empty() || result.outputs.empty()) return;
  CacheEntry entry = result.outputs;
  if (std::string text = about(result); !text.empty()) entry.push_back({k_about, std::move(text)});
  store_->put(key, entry);
}

ResultKey key_of_result(const Record& record, const ToolResult& result) {
  std::string list;
  for (const StoredFile& output : result.outputs)
    list += sha256(output.bytes) + " " + output.name + "\n";
  return {Key(record.key).add_bytes("outputs", list).digest(), ""};
}

}  // namespace dsbuild
