// What is done with the store as a whole: counted, bounded, emptied.
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "cache/content_store.h"
#include "cache/layout.h"
#include "cache/size_record.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

// Longer than it takes to write any entry.
constexpr int64_t k_old_temporary_ns = 3'600'000'000'000;
constexpr size_t k_long_uses = 1 << 16;  // bytes of the file

// In the build folder: a line for each use, which a letter begins.
constexpr const char* k_step_uses = "store.uses";
constexpr char k_hit = 'h', k_miss = 'm', k_difference = 'd';

unsigned long long total_bytes(const std::vector<EntryFile>& entries) {
  unsigned long long bytes = 0;
  for (const EntryFile& entry : entries)
    bytes += entry.bytes;
  return bytes;
}

unsigned long long total_bytes(const StoreContent& content) {
  return total_bytes(content.results) + total_bytes(content.blobs);
}

struct OldFile {
  EntryFile file;
  bool is_result = false;
};

// The longest unused first. A result counts as a little older than it is, for its files were written just
// before it: without them it is nothing.
std::vector<OldFile> by_last_use(const StoreContent& content) {
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
Result<StoreRemoval> remove_down_to(unsigned long long enough, const StoreContent& content,
                                    FileSystem& files) {
  StoreRemoval removal;
  const unsigned long long total = total_bytes(content);
  for (const OldFile& old : by_last_use(content)) {
    if (total - removal.bytes <= enough) break;
    DSBUILD_CHECK(files.remove_all(old.file.path));
    removal.entries += old.is_result ? 1 : 0;
    removal.bytes += old.file.bytes;
  }
  return removal;
}

std::string uses_line(const StoreUses& uses) {
  return std::to_string(uses.hits) + " " + std::to_string(uses.misses) + "\n";
}

// A line that is damaged counts nothing.
StoreUses parse_uses(std::string_view line) {
  const std::vector<std::string> numbers = split(line, " ");
  if (numbers.size() != 2) return {};
  return {whole_number<unsigned long long>(numbers[0]).value_or(0),
          whole_number<unsigned long long>(numbers[1]).value_or(0)};
}

// All lines but the last become one. What another build appends at this moment is not counted.
void shorten_uses(const Path& file, const StoreStats& stats, FileSystem& files) {
  const StoreUses before = {stats.all_builds.hits - stats.last_build.hits,
                            stats.all_builds.misses - stats.last_build.misses};
  (void)files.write_file(file, uses_line(before) + uses_line(stats.last_build));
}

// The size of the file.
size_t read_uses(const Path& file, const FileReader& files, StoreStats& stats) {
  if (files.own_kind(file) != FileKind::file) return 0;
  const auto text = files.read_file(file);
  if (!text) return 0;
  for (const std::string& line : split_lines(*text)) {
    stats.last_build = parse_uses(line);
    stats.all_builds.hits += stats.last_build.hits;
    stats.all_builds.misses += stats.last_build.misses;
  }
  return text->size();
}

}  // namespace

Result<StoreStats> ContentStore::stats() const {
  DSBUILD_CHECK(check());
  StoreStats stats;
  if (!folder_.is_ours()) return stats;
  DSBUILD_TRY(content, scan_store(folder_.path(), files_));
  stats.entries = content.results.size();
  stats.bytes = total_bytes(content);
  read_uses(folder_.path() / k_uses_file, files_, stats);
  return stats;
}

Result<StoreRemoval> ContentStore::prune(unsigned long long limit) const {
  DSBUILD_CHECK(check());
  if (!folder_.is_ours()) return StoreRemoval{};
  DSBUILD_TRY(content, scan_store(folder_.path(), files_));
  const int64_t now = file_clock_now();
  for (const EntryFile& temporary : content.temporaries)
    if (now - temporary.used_ns > k_old_temporary_ns) DSBUILD_CHECK(files_.remove_all(temporary.path));
  StoreRemoval removal;
  const unsigned long long bytes = total_bytes(content);
  if (bytes > limit) {
    DSBUILD_TRY(removed, remove_down_to(limit - limit / 10, content, files_));
    removal = removed;
  }
  record_size(folder_.path(), bytes - removal.bytes, files_);
  return removal;
}

Result<StoreRemoval> ContentStore::clear() const {
  DSBUILD_CHECK(check());
  if (!folder_.is_ours()) return StoreRemoval{};
  DSBUILD_TRY(content, scan_store(folder_.path(), files_));
  for (const EntryFile& temporary : content.temporaries)
    DSBUILD_CHECK(files_.remove_all(temporary.path));
  for (const char* record : {k_uses_file, k_size_file})
    DSBUILD_CHECK(files_.remove_all(folder_.path() / record));
  StoreRemoval removal{content.results.size(), total_bytes(content)};
  for (const auto* entries : {&content.results, &content.blobs})
    for (const EntryFile& entry : *entries)
      DSBUILD_CHECK(files_.remove_all(entry.path));
  return removal;
}

void ContentStore::end_build(const StoreUses& uses, unsigned long long limit) const {
  if (uses == StoreUses{} || !folder_.is_ours()) return;
  const Path file = folder_.path() / k_uses_file;
  (void)files_.append(file, uses_line(uses));
  StoreStats stats;
  if (read_uses(file, files_, stats) > k_long_uses) shorten_uses(file, stats, files_);
  const auto size = uses.misses > 0 ? recorded_size(folder_.path(), files_) : 0;
  if (!size || *size > limit) (void)prune(limit);
}

void note_store_use(bool is_hit, FileSystem& files) {
  (void)files.append(k_step_uses, std::string(1, is_hit ? k_hit : k_miss) + "\n");
}

void note_store_difference(std::string_view what, FileSystem& files) {
  std::string line = k_difference + std::string(what);
  std::replace(line.begin(), line.end(), '\n', ' ');
  (void)files.append(k_step_uses, line + "\n");
}

StoreUses take_store_uses(const Path& build_dir, FileSystem& files) {
  const Path file = build_dir / k_step_uses;
  if (files.own_kind(file) != FileKind::file) return {};
  const auto notes = files.read_file(file);
  (void)files.remove_all(file);
  StoreUses uses;
  for (const std::string& line : split_lines(notes ? *notes : "")) {
    if (line.starts_with(k_hit)) ++uses.hits;
    if (line.starts_with(k_miss)) ++uses.misses;
    if (line.starts_with(k_difference)) ++uses.differences[line.substr(1)];
  }
  return uses;
}

}  // namespace dsbuild
