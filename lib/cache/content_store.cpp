#include "cache/content_store.h"

#include <algorithm>
#include <cstdlib>

#include "cache/entry_file.h"
#include "cache/layout.h"
#include "cache/size_record.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr const char* k_marker = "CACHEDIR.TAG";
// The first line is that of the Cache Directory Tagging Specification.
constexpr const char* k_marker_begin =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Made by dsbuild";
constexpr const char* k_marker_rest =
    ": results of builds, to be used again. `dsbuild cache clear` empties it.\n";

// How exactly it is known when an entry was last used: marking it costs a change on the disk.
constexpr int64_t k_mark_every_ns = 60'000'000'000;

// Another dsbuild that starts at this moment has made these, and writes the marker next.
bool is_beginning(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, is_own_temporary);
}

}  // namespace

std::optional<StoreEntry> ContentStore::find(const std::string& key) const {
  const Path file = file_of(key);
  if (files_.own_kind(file) != FileKind::file) return std::nullopt;
  const auto text = files_.read_file(file);
  if (!text) return std::nullopt;
  auto entry = parse_entry(key, *text);
  if (entry)
    mark_as_used(file);
  else
    (void)files_.remove_all(file);
  return entry;
}

bool ContentStore::has(const std::string& key) const {
  return files_.kind(file_of(key)) == FileKind::file;
}

void ContentStore::put(const std::string& key, const StoreEntry& entry) const {
  const Path file = file_of(key);
  if (!make_ours() || !files_.make_directories(file.parent_path())) return;
  const auto text = render_entry(key, entry);
  if (text && files_.write_file(file, *text)) record_put(folder_, text->size(), files_);
}

Path ContentStore::file_of(const std::string& key) const {
  return folder_ / key.substr(0, 2) / key.substr(2);
}

bool ContentStore::is_ours() const {
  if (files_.own_kind(folder_ / k_marker) != FileKind::file) return false;
  const auto text = files_.read_file(folder_ / k_marker);
  return text && text->starts_with(k_marker_begin);
}

bool ContentStore::make_ours() const {
  if (is_ours()) return true;
  if (!files_.make_directories(folder_)) return false;
  const auto names = files_.list(folder_);
  // Else another process was faster, or the folder holds something else.
  if (!names || !is_beginning(*names)) return is_ours();
  return files_.write_file(folder_ / k_marker, std::string(k_marker_begin) + k_marker_rest, true).has_value();
}

void ContentStore::mark_as_used(const Path& file) const {
  const auto identity = files_.identity(file);
  const int64_t now = file_clock_now();
  if (identity && std::abs(now - identity->mtime_ns) > k_mark_every_ns) (void)files_.set_mtime(file, now);
}

Result<void> ContentStore::check() const {
  const FileKind kind = files_.kind(folder_);
  if (kind == FileKind::absent || is_ours()) return {};
  if (kind == FileKind::directory) {
    DSBUILD_TRY(names, files_.list(folder_));
    // A disk of several nodes may list a name before it shows the file.
    const bool is_late = std::ranges::find(names, k_marker) != names.end() &&
                         files_.own_kind(folder_ / k_marker) == FileKind::absent;
    if (is_beginning(names) || is_late) return {};
  }
  return fail(Exit::usage, "foreign_cache_dir", folder_.string(),
              "the folder for results of builds holds files that are not dsbuild's",
              "Choose another --cache-dir (DSBUILD_CACHE_DIR), or empty this one.");
}

}  // namespace dsbuild
