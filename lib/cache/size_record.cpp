#include "cache/size_record.h"

namespace dsbuild {
namespace {

constexpr size_t k_long_record = 1 << 16;  // bytes of the file

}  // namespace

void record_put(const Path& folder, unsigned long long bytes, FileSystem& files) {
  (void)files.append(folder / k_size_file, "+" + std::to_string(bytes) + "\n");
}

void record_size(const Path& folder, unsigned long long bytes, FileSystem& files) {
  (void)files.write_file(folder / k_size_file, "=" + std::to_string(bytes) + "\n");
}

std::optional<unsigned long long> recorded_size(const Path& folder, const FileReader& files) {
  if (files.own_kind(folder / k_size_file) != FileKind::file) return std::nullopt;
  const auto text = files.read_file(folder / k_size_file);
  if (!text || !text->starts_with('=') || text->size() > k_long_record) return std::nullopt;
  unsigned long long total = 0;
  for (const std::string& line : split_lines(*text)) {
    if (line.empty()) return std::nullopt;
    const auto bytes = whole_number<unsigned long long>(std::string_view(line).substr(1));
    if (!bytes) return std::nullopt;
    total += *bytes;
  }
  return total;
}

}  // namespace dsbuild
