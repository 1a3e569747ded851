#include "remote/cache_archive_layout.h"

#include "base/digest.h"
#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_version = "dsbuild-archive 1", k_scope = "scope ";
constexpr std::string_view k_result = "result ", k_records = "records ";
constexpr size_t k_folder_digits = 2;

std::optional<UpstreamItem> parse_item(std::string_view line) {
  const UpstreamKind what = line.starts_with(k_result) ? UpstreamKind::result : UpstreamKind::records;
  const std::string_view start = what == UpstreamKind::result ? k_result : k_records;
  if (!line.starts_with(start) || !is_sha256(line.substr(start.size()))) return std::nullopt;
  return UpstreamItem{what, std::string(line.substr(start.size()))};
}

}  // namespace

std::string member_name(const RemoteName& name) {
  return kind_folder(name.kind) + name.digest.substr(0, k_folder_digits) + "/" +
         name.digest.substr(k_folder_digits);
}

std::optional<RemoteName> parse_member_name(std::string_view name) {
  for (const RemoteKind kind : {RemoteKind::ac, RemoteKind::cas}) {
    const std::string_view folder = kind_folder(kind);
    if (!name.starts_with(folder)) continue;
    const std::string_view rest = name.substr(folder.size());
    RemoteName found{kind, std::string(rest.substr(0, k_folder_digits))};
    if (rest.size() > k_folder_digits) found.digest += rest.substr(k_folder_digits + 1);
    if (is_sha256(found.digest) && member_name(found) == name) return found;
  }
  return std::nullopt;
}

std::string render_archive_keys(const ArchiveKeys& keys) {
  std::string text = std::string(k_version) + "\n" + std::string(k_scope) + keys.scope + "\n";
  for (const UpstreamItem& item : keys.items)
    text += std::string(item.what == UpstreamKind::result ? k_result : k_records) + item.key + "\n";
  return text;
}

std::optional<ArchiveKeys> parse_archive_keys(std::string_view text) {
  const std::vector<std::string> lines = split_lines(text);
  if (lines.size() < 2 || lines[0] != k_version || !lines[1].starts_with(k_scope)) return std::nullopt;
  ArchiveKeys keys{lines[1].substr(k_scope.size()), {}};
  for (size_t i = 2; i < lines.size(); ++i) {
    auto item = parse_item(lines[i]);
    if (!item) return std::nullopt;
    keys.items.push_back(std::move(*item));
  }
  return keys;
}

}  // namespace dsbuild
