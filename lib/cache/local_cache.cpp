#include "cache/local_cache.h"

#include <algorithm>
#include <cstdlib>

#include "base/build_layout.h"
#include "cache/cache_layout.h"
#include "cache/entry_file.h"
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

// Another dsbuild that starts at this moment has made these, and writes the marker next. Or only caches of
// trusted keys are there, which have markers of their own.
bool is_beginning(const std::vector<std::string>& names) {
  return std::ranges::all_of(
      names, [](const std::string& name) { return is_own_temporary(name) || name == k_trusted_folder; });
}

template <class Answer, class Ask>
std::vector<Answer> each(const std::vector<std::string>& names, const Ask& ask) {
  std::vector<Answer> answers;
  for (const std::string& name : names)
    answers.push_back(ask(name));
  return answers;
}

}  // namespace

bool LocalFolder::is_ours() const {
  if (files_.own_kind(path_ / k_marker) != FileKind::file) return false;
  const auto text = files_.read_file(path_ / k_marker);
  return text && text->starts_with(k_marker_begin);
}

bool LocalFolder::make_ours() const {
  if (is_ours()) return true;
  if (!files_.make_directories(path_)) return false;
  const auto names = files_.list(path_);
  // Else another process was faster, or the folder holds something else.
  if (!names || !is_beginning(*names)) return is_ours();
  return files_.write_file(path_ / k_marker, std::string(k_marker_begin) + k_marker_rest, true).has_value();
}

Result<void> LocalFolder::check() const {
  const FileKind kind = files_.kind(path_);
  if (kind == FileKind::absent || is_ours()) return {};
  if (kind == FileKind::directory) {
    DSBUILD_TRY(names, files_.list(path_));
    // A disk of several nodes may list a name before it shows the file.
    const bool is_late = std::ranges::find(names, k_marker) != names.end() &&
                         files_.own_kind(path_ / k_marker) == FileKind::absent;
    if (is_beginning(names) || is_late) return {};
  }
  return fail(Exit::usage, "foreign_cache_dir", path_.string(),
              "the folder for results of builds holds files that are not dsbuild's",
              "Choose another --cache-dir (DSBUILD_CACHE_DIR), or empty this one.");
}

std::optional<std::string> LocalFolder::read(const Path& file) const {
  if (files_.own_kind(file) != FileKind::file) return std::nullopt;
  auto text = files_.read_file(file);
  if (!text) return std::nullopt;
  mark_as_used(file);
  return std::move(*text);
}

bool LocalFolder::write(const Path& file, const std::string& text) const {
  if (!make_ours() || !files_.make_directories(file.parent_path()) || !files_.write_file(file, text))
    return false;
  record_put(path_, text.size(), files_);
  return true;
}

bool LocalFolder::has(const Path& file) const {
  return files_.kind(file) == FileKind::file;
}

void LocalFolder::mark_as_used(const Path& file) const {
  const auto identity = files_.identity(file);
  const int64_t now = file_clock_now();
  if (identity && std::abs(now - identity->mtime_ns) > k_mark_every_ns) (void)files_.set_mtime(file, now);
}

std::vector<std::optional<ActionResult>> LocalActionCache::find(const std::vector<std::string>& keys) const {
  return each<std::optional<ActionResult>>(keys, [&](const std::string& key) {
    const Path file = result_file(folder_.path(), key);
    const auto text = folder_.read(file);
    auto result = text ? parse_result(key, *text) : std::nullopt;
    if (text && !result) folder_.remove(file);
    return result;
  });
}

std::vector<bool> LocalActionCache::has(const std::vector<std::string>& keys) const {
  return each<bool>(keys,
                    [&](const std::string& key) { return folder_.has(result_file(folder_.path(), key)); });
}

void LocalActionCache::put(const std::string& key, const ActionResult& result) const {
  (void)folder_.write(result_file(folder_.path(), key), render_result(key, result));
}

void LocalActionCache::forget(const std::string& key) const {
  folder_.remove(result_file(folder_.path(), key));
}

std::vector<std::optional<std::string>> LocalBlobStore::find(const std::vector<std::string>& digests) const {
  return each<std::optional<std::string>>(digests, [&](const std::string& digest) {
    const Path file = blob_file(folder_.path(), digest);
    const auto text = folder_.read(file);
    auto bytes = text ? parse_blob(digest, *text) : std::nullopt;
    if (text && !bytes) folder_.remove(file);
    return bytes;
  });
}

std::vector<bool> LocalBlobStore::has(const std::vector<std::string>& digests) const {
  return each<bool>(
      digests, [&](const std::string& digest) { return folder_.has(blob_file(folder_.path(), digest)); });
}

// One that is there may be damaged: it is written again, by whoever has its bytes.
bool LocalBlobStore::put(const std::string& digest, std::string_view bytes) const {
  const auto text = render_blob(digest, bytes);
  return text && folder_.write(blob_file(folder_.path(), digest), *text);
}

}  // namespace dsbuild
