#include "cache/entry_file.h"

#include "base/compress.h"
#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_version_line = "dsbuild-store 1";

// Up to the next end of line, which is taken too; nullopt where there is none.
std::optional<std::string_view> take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

struct FileLine {
  size_t bytes = 0;
  std::string name;
};

std::optional<FileLine> parse_file_line(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto bytes = whole_number<size_t>(line.substr(0, blank));
  if (!bytes) return std::nullopt;
  return FileLine{*bytes, std::string(line.substr(blank + 1))};
}

// Up to the empty line, which is taken too.
std::optional<std::vector<FileLine>> take_file_lines(std::string_view& text) {
  std::vector<FileLine> files;
  while (true) {
    const auto line = take_line(text);
    if (!line) return std::nullopt;
    if (line->empty()) return files;
    auto file = parse_file_line(*line);
    if (!file) return std::nullopt;
    files.push_back(std::move(*file));
  }
}

std::optional<StoreEntry> unpack(const std::vector<FileLine>& files, std::string_view packed) {
  size_t total = 0;
  for (const FileLine& file : files)
    total += file.bytes;
  const auto bytes = decompress(packed, total);
  if (!bytes) return std::nullopt;
  StoreEntry entry;
  size_t at = 0;
  for (const FileLine& file : files) {
    entry.push_back({file.name, bytes->substr(at, file.bytes)});
    at += file.bytes;
  }
  return entry;
}

}  // namespace

std::optional<std::string> render_entry(const std::string& key, const StoreEntry& entry) {
  std::string text = std::string(k_version_line) + "\n" + key + "\n";
  std::string all;
  for (const StoredFile& file : entry) {
    text += std::to_string(file.bytes.size()) + " " + file.name + "\n";
    all += file.bytes;
  }
  const auto packed = compress(all);
  if (!packed) return std::nullopt;
  text += "\n" + *packed;
  return sha256(text) + "\n" + text;
}

std::optional<StoreEntry> parse_entry(const std::string& key, std::string_view text) {
  const auto digest = take_line(text);
  if (!digest || *digest != sha256(text)) return std::nullopt;
  if (take_line(text) != k_version_line || take_line(text) != key) return std::nullopt;
  const auto files = take_file_lines(text);
  return files ? unpack(*files, text) : std::nullopt;
}

}  // namespace dsbuild
