#include "cache/counts.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "sys/lock.h"

namespace dsbuild {
namespace {

constexpr const char *k_version = "dsbuild-counts 1", *k_lock_file = "counts.lock";
constexpr const char *k_scope = "scope", *k_fallback = "last_fallback";
constexpr auto k_patience = std::chrono::seconds(10);  // each holds the lock for a moment

template <class Counts>
std::string render_rows(const Counts& counts, const std::vector<CountRow<Counts>>& rows) {
  std::string text;
  for (const auto& row : rows)
    if (counts.*row.number > 0)
      text += std::string(row.name) + " " + std::to_string(counts.*row.number) + "\n";
  return text;
}

// Whether there is such a number.
template <class Counts>
bool read_row(const std::string& name, const std::string& value, const std::vector<CountRow<Counts>>& rows,
              Counts& counts) {
  const auto row = std::ranges::find_if(rows, [&](const auto& each) { return name == each.name; });
  const auto number = whole_number<uint64_t>(value);
  if (row == rows.end() || !number) return false;
  counts.*row->number = *number;
  return true;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

const std::vector<CountRow<CacheCounts>>& cache_count_rows() {
  using Counts = CacheCounts;
  static const std::vector<CountRow<Counts>> rows = {
      {"builds", &Counts::builds},
      {"failed_builds", &Counts::failed_builds},
      {"build_milliseconds", &Counts::build_milliseconds},
      {"hits", &Counts::hits},
      {"misses", &Counts::misses},
      {"saved_milliseconds", &Counts::saved_milliseconds},
      {"last_hits", &Counts::last_hits},
      {"last_misses", &Counts::last_misses},
      {"last_saved_milliseconds", &Counts::last_saved_milliseconds},
      {"last_build_milliseconds", &Counts::last_build_milliseconds},
      {"last_build_failed", &Counts::last_build_failed},
      {"last_build_at", &Counts::last_build_at}};
  return rows;
}

const std::vector<CountRow<RemoteCounts>>& remote_count_rows() {
  using Counts = RemoteCounts;
  static const std::vector<CountRow<Counts>> rows = {{"hits", &Counts::hits},
                                                     {"misses", &Counts::misses},
                                                     {"received_bytes", &Counts::received_bytes},
                                                     {"sent_bytes", &Counts::sent_bytes},
                                                     {"requests", &Counts::requests},
                                                     {"uploads", &Counts::uploads},
                                                     {"renewals", &Counts::renewals},
                                                     {"saved_milliseconds", &Counts::saved_milliseconds},
                                                     {"lost", &Counts::lost},
                                                     {"damaged", &Counts::damaged},
                                                     {"untrusted", &Counts::untrusted},
                                                     {"fallbacks", &Counts::fallbacks}};
  return rows;
}

void add(RemoteCounts& sum, const RemoteCounts& more) {
  for (const auto& row : remote_count_rows())
    sum.*row.number += more.*row.number;
}

RemoteCounts sum_of(const std::map<std::string, RemoteCounts>& scopes) {
  RemoteCounts sum;
  for (const auto& [scope, counts] : scopes)
    add(sum, counts);
  return sum;
}

RemoteCounts& counts_of_scope(CacheCounts& counts, const std::string& scope) {
  const std::string name = one_line(scope);
  const bool is_one_too_many = counts.remote.size() >= k_most_scopes && !counts.remote.contains(name);
  return counts.remote[is_one_too_many ? k_other_scopes : name];
}

std::string render_counts(const CacheCounts& counts) {
  std::string text = std::string(k_version) + "\n" + render_rows(counts, cache_count_rows());
  if (!counts.last_fallback.empty())
    text += std::string(k_fallback) + " " + one_line(counts.last_fallback) + "\n";
  for (const auto& [scope, remote] : counts.remote)
    text += std::string(k_scope) + " " + scope + "\n" + render_rows(remote, remote_count_rows());
  return sha256(text) + "\n" + text;
}

CacheCounts parse_counts(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, end) != sha256(text.substr(end + 1))) return {};
  const std::vector<std::string> lines = split_lines(std::string(text.substr(end + 1)));
  if (lines.empty() || lines.front() != k_version) return {};
  CacheCounts counts;
  RemoteCounts* remote = nullptr;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t space = lines[i].find(' ');
    if (space == std::string::npos) return {};
    const std::string name = lines[i].substr(0, space), value = lines[i].substr(space + 1);
    if (name == k_scope)
      remote = &counts.remote[value];
    else if (!remote && name == k_fallback)
      counts.last_fallback = value;
    else if (!(remote ? read_row(name, value, remote_count_rows(), *remote)
                      : read_row(name, value, cache_count_rows(), counts)))
      return {};
  }
  return counts;
}

CacheCounts read_counts(const Path& folder, const FileReader& files) {
  if (files.own_kind(folder / k_counts_file) != FileKind::file) return {};
  const auto text = files.read_file(folder / k_counts_file);
  return text ? parse_counts(*text) : CacheCounts{};
}

void update_counts(const Path& folder, FileSystem& files, const std::function<void(CacheCounts&)>& change) {
  const auto lock = take_lock_if_there(folder / k_lock_file, "counts", k_patience, [](const std::string&) {});
  if (!lock && lock.error().code == "locked") return;
  CacheCounts counts = read_counts(folder, files);
  change(counts);
  (void)files.write_file(folder / k_counts_file, render_counts(counts));
}

}  // namespace dsbuild
