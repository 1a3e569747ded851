#include "cache/entry_file.h"

#include "base/compress.h"
#include "base/digest.h"
#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_result_version = "dsbuild-result 1", k_blob_version = "dsbuild-blob 1";
constexpr char k_time_mark = '+';

// Up to the next end of line, which is taken too; nullopt where there is none.
std::optional<std::string_view> take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::string with_digest(const std::string& text) {
  return sha256(text) + "\n" + text;
}

// The text after its digest and the version's line; nullopt where one of them is wrong.
std::optional<std::string_view> take_head(std::string_view text, std::string_view version) {
  const auto digest = take_line(text);
  if (!digest || *digest != sha256(text) || take_line(text) != version) return std::nullopt;
  return text;
}

std::string size_line(const std::string& digest, uint64_t bytes) {
  return digest + " " + std::to_string(bytes);
}

// "<digest> <bytes>+<milliseconds> <name>"; without the time where it is not known.
std::string file_line(const CachedFile& file) {
  const std::string time = file.milliseconds > 0 ? k_time_mark + std::to_string(file.milliseconds) : "";
  return size_line(file.digest, file.bytes) + time + " " + file.name + "\n";
}

std::optional<CachedFile> parse_file_line(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view numbers = line.substr(first + 1, second - first - 1);
  const size_t mark = numbers.find(k_time_mark);
  const auto bytes = whole_number<uint64_t>(numbers.substr(0, mark));
  const auto time = mark == std::string_view::npos ? 0 : whole_number<uint64_t>(numbers.substr(mark + 1));
  if (!bytes || !time) return std::nullopt;
  return CachedFile{std::string(line.substr(second + 1)), std::string(line.substr(0, first)), *bytes, *time};
}

}  // namespace

std::string render_result(const std::string& key, const ActionResult& result) {
  std::string text = std::string(k_result_version) + "\n" + key + "\n";
  for (const CachedFile& file : result.outputs)
    text += file_line(file);
  return with_digest(text);
}

std::optional<ActionResult> parse_result(const std::string& key, std::string_view text) {
  auto rest = take_head(text, k_result_version);
  if (!rest || take_line(*rest) != key) return std::nullopt;
  ActionResult result;
  while (const auto line = take_line(*rest)) {
    auto file = parse_file_line(*line);
    if (!file) return std::nullopt;
    result.outputs.push_back(std::move(*file));
  }
  return rest->empty() ? std::optional(result) : std::nullopt;
}

std::optional<std::string> render_blob(const std::string& digest, std::string_view bytes) {
  const auto packed = compress(bytes);
  if (!packed) return std::nullopt;
  return with_digest(std::string(k_blob_version) + "\n" + size_line(digest, bytes.size()) + "\n" + *packed);
}

std::optional<std::string> parse_blob(const std::string& digest, std::string_view text) {
  auto rest = take_head(text, k_blob_version);
  const auto line = rest ? take_line(*rest) : std::nullopt;
  if (!line || line->substr(0, line->find(' ')) != digest || line->size() <= digest.size())
    return std::nullopt;
  const auto bytes = whole_number<size_t>(line->substr(digest.size() + 1));
  return bytes ? decompress(*rest, *bytes) : std::nullopt;
}

}  // namespace dsbuild
