// What is done with the store as a whole: counted, bounded, emptied.
#include <algorithm>
#include <tuple>

#include "base/build_layout.h"
#include "base/text.h"
#include "cache/cache_layout.h"
#include "cache/size_record.h"
#include "cache/tiered_cache.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

// Longer than it takes to write any entry.
constexpr int64_t k_old_temporary_ns = 3'600'000'000'000;

// In the build folder: a line for each use, which a letter begins.
constexpr const char* k_step_uses = "store.uses";
constexpr char k_hit = 'h', k_miss = 'm', k_difference = 'd';

unsigned long long total_bytes(const std::vector<EntryFile>& entries) {
  unsigned long long bytes = 0;
  for (const EntryFile& entry : entries)
    bytes += entry.bytes;
  return bytes;
}

unsigned long long total_bytes(const CacheContent& content) {
  return total_bytes(content.results) + total_bytes(content.blobs);
}

struct OldFile {
  EntryFile file;
  bool is_result = false;
};

// The longest unused first. A result counts as a little older than it is, for its files were written just
// before it: without them it is nothing.
std::vector<OldFile> by_last_use(const CacheContent& content) {
  constexpr int64_t k_written_within_ns = 1'000'000'000;
  std::vector<OldFile> all;
  for (const EntryFile& file : content.results)
    all.push_back({{file.path, file.bytes, file.used_ns - k_written_within_ns}, true});
  for (const EntryFile& file : content.blobs)
    all.push_back({file, false});
  std::ranges::sort(all, [](const OldFile& a, const OldFile& b) {
    return std::tie(a.file.used_ns, a.file.path) < std::tie(b.file.used_ns, b.file.path);
  });
  return all;
}

// Removes them in turn for as long as all of them have more than `enough` bytes.
Result<CacheRemoval> remove_down_to(unsigned long long enough, const CacheContent& content,
                                    FileSystem& files) {
  CacheRemoval removal;
  const unsigned long long total = total_bytes(content);
  for (const OldFile& old : by_last_use(content)) {
    if (total - removal.bytes <= enough) break;
    DSBUILD_CHECK(files.remove_all(old.file.path));
    removal.entries += old.is_result ? 1 : 0;
    removal.bytes += old.file.bytes;
  }
  return removal;
}

// "<milliseconds> <result> <output>", where the result may be empty and the output may have blanks.
std::optional<CacheHit> parse_hit(std::string_view text) {
  const size_t first = text.find(' '), second = first == text.npos ? first : text.find(' ', first + 1);
  const auto time = second == text.npos ? std::nullopt : whole_number<uint64_t>(text.substr(0, first));
  if (!time) return std::nullopt;
  return CacheHit{std::string(text.substr(first + 1, second - first - 1)), *time,
                  std::string(text.substr(second + 1))};
}

void add_uses(const CacheUses& uses, CacheCounts& counts) {
  counts.hits += uses.hits;
  counts.misses += uses.misses;
  counts.saved_milliseconds += uses.saved_milliseconds();
  counts.last_hits = uses.hits;
  counts.last_misses = uses.misses;
  counts.last_saved_milliseconds = uses.saved_milliseconds();
}

// The caches of trusted keys, which lie within this one.
std::vector<Path> inner_caches(const Path& folder, FileSystem& files) {
  const Path parent = folder / k_trusted_folder;
  std::vector<Path> caches;
  if (files.own_kind(parent) != FileKind::directory) return caches;
  for (const std::string& name : files.list(parent).value_or(std::vector<std::string>{}))
    if (files.own_kind(parent / name) == FileKind::directory && LocalFolder(files, parent / name).is_ours())
      caches.push_back(parent / name);
  return caches;
}

void add(CacheRemoval& sum, const CacheRemoval& more) {
  sum.entries += more.entries;
  sum.bytes += more.bytes;
}

}  // namespace

Result<CacheStats> TieredCache::stats() const {
  DSBUILD_CHECK(check());
  CacheStats stats;
  if (!folder_.is_ours()) return stats;
  DSBUILD_TRY(content, scan_cache(folder_.path(), files_));
  stats.entries = content.results.size();
  stats.bytes = total_bytes(content);
  stats.counts = read_counts(folder_.path(), files_);
  return stats;
}

// A list of records is told by the name of what is in it.
Result<std::vector<UpstreamItem>> TieredCache::items() const {
  DSBUILD_CHECK(check());
  std::vector<UpstreamItem> items;
  if (!folder_.is_ours()) return items;
  DSBUILD_TRY(content, scan_cache(folder_.path(), files_));
  for (const EntryFile& file : content.results) {
    const std::string key = file.path.parent_path().filename().string() + file.path.filename().string();
    const auto result = actions_.find({key}).front();
    if (!result || result->outputs.empty()) continue;
    const bool is_list = std::ranges::all_of(
        result->outputs, [](const CachedFile& output) { return output.name == k_record; });
    items.push_back({is_list ? UpstreamKind::records : UpstreamKind::result, key});
  }
  return items;
}

Result<CacheRemoval> TieredCache::prune(unsigned long long limit) const {
  DSBUILD_CHECK(check());
  CacheRemoval removal;
  for (const Path& inner : inner_caches(folder_.path(), files_)) {
    DSBUILD_TRY(removed, TieredCache(files_, inner).prune(limit));
    add(removal, removed);
  }
  if (!folder_.is_ours()) return removal;
  DSBUILD_TRY(content, scan_cache(folder_.path(), files_));
  const int64_t now = file_clock_now();
  for (const EntryFile& temporary : content.temporaries)
    if (now - temporary.used_ns > k_old_temporary_ns) DSBUILD_CHECK(files_.remove_all(temporary.path));
  const unsigned long long bytes = total_bytes(content);
  CacheRemoval removed_here;
  if (bytes > limit) {
    DSBUILD_TRY(removed, remove_down_to(limit - limit / 10, content, files_));
    removed_here = removed;
  }
  record_size(folder_.path(), bytes - removed_here.bytes, files_);
  add(removal, removed_here);
  return removal;
}

Result<CacheRemoval> TieredCache::clear() const {
  DSBUILD_CHECK(check());
  CacheRemoval removal;
  for (const Path& inner : inner_caches(folder_.path(), files_)) {
    DSBUILD_TRY(removed, TieredCache(files_, inner).clear());
    add(removal, removed);
  }
  if (!folder_.is_ours()) return removal;
  DSBUILD_TRY(content, scan_cache(folder_.path(), files_));
  for (const EntryFile& temporary : content.temporaries)
    DSBUILD_CHECK(files_.remove_all(temporary.path));
  for (const char* record : {k_counts_file, k_size_file})
    DSBUILD_CHECK(files_.remove_all(folder_.path() / record));
  add(removal, {content.results.size(), total_bytes(content)});
  for (const auto* entries : {&content.results, &content.blobs})
    for (const EntryFile& entry : *entries)
      DSBUILD_CHECK(files_.remove_all(entry.path));
  return removal;
}

void TieredCache::end_build(const CacheUses& uses, unsigned long long limit) const {
  if (uses == CacheUses{} || !folder_.is_ours()) return;
  count([&](CacheCounts& counts) { add_uses(uses, counts); });
  const auto size = uses.misses > 0 ? recorded_size(folder_.path(), files_) : 0;
  if (!size || *size > limit) (void)prune(limit);
}

uint64_t CacheUses::saved_milliseconds() const {
  uint64_t sum = 0;
  for (const CacheHit& hit : found)
    sum += hit.milliseconds;
  return sum;
}

void note_cache_hit(const CacheHit& hit, FileSystem& files) {
  (void)files.append(k_step_uses,
                     k_hit + std::to_string(hit.milliseconds) + " " + hit.result + " " + hit.output + "\n");
}

void note_cache_miss(FileSystem& files) {
  (void)files.append(k_step_uses, std::string(1, k_miss) + "\n");
}

void note_cache_difference(std::string_view what, FileSystem& files) {
  std::string line = k_difference + std::string(what);
  std::replace(line.begin(), line.end(), '\n', ' ');
  (void)files.append(k_step_uses, line + "\n");
}

CacheUses take_cache_uses(const Path& build_dir, FileSystem& files) {
  const Path file = build_dir / k_step_uses;
  if (files.own_kind(file) != FileKind::file) return {};
  const auto notes = files.read_file(file);
  (void)files.remove_all(file);
  CacheUses uses;
  for (const std::string& line : split_lines(notes ? *notes : "")) {
    if (line.starts_with(k_hit)) {
      ++uses.hits;
      if (auto hit = parse_hit(std::string_view(line).substr(1))) uses.found.push_back(std::move(*hit));
    }
    if (line.starts_with(k_miss)) ++uses.misses;
    if (line.starts_with(k_difference)) ++uses.differences[line.substr(1)];
  }
  return uses;
}

}  // namespace dsbuild
