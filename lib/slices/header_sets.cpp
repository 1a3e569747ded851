#include "slices/header_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/digest.h"
#include "slices/kept_results.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr const char* k_folder = "tools/headers";

// The headers of one folder that some edge read, in their order.
using Headers = std::vector<std::string>;

// "usr_include_c___12-3fa9…": which folder, for people, and which of its headers.
std::string set_name(const Headers& headers) {
  constexpr size_t k_longest = 80;
  std::string folder = Path(headers.front()).parent_path().string();
  std::replace_if(folder.begin(), folder.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  const size_t begin = folder.size() > k_longest ? folder.size() - k_longest : 1;
  return folder.substr(std::min(begin, folder.size())) + "-" + sha256(join(headers, "\n")).substr(0, 16);
}

// "size:mtime path", as it is told apart from an upgraded one.
std::string line_of(const std::string& header, const FileIdentity& identity) {
  return identity.size_and_time() + " " + header + "\n";
}

Headers headers_in(std::string_view text) {
  Headers headers;
  for (const std::string& line : split_lines(text))
    headers.push_back(line.substr(std::min(line.find(' '), line.size() - 1) + 1));
  return headers;
}

// With the time of its newest header, as if Ninja saw that one: Ninja would take a time of now for a change
// since the edge began that makes the set.
Result<void> make_set(const Path& path, const Headers& headers, FileSystem& files) {
  std::string text;
  int64_t newest_ns = 0;
  for (const std::string& header : headers) {
    const auto identity = files.identity(header);
    if (!identity) return {};  // gone meanwhile: without its set the edge runs again
    text += line_of(header, *identity);
    newest_ns = std::max(newest_ns, identity->ctime_ns);
  }
  DSBUILD_CHECK(files.make_directories(path.parent_path()));
  DSBUILD_CHECK(files.write_file(path, text));
  return files.set_mtime(path, newest_ns);
}

class Renewal {
 public:
  Renewal(Path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}

  Result<void> renew(const std::string& name) {
    const Path path = folder_ / name;
    const auto text = files_.read_file(path);
    const auto now = text && !is_own_temporary(name) ? text_now(name, headers_in(*text)) : std::nullopt;
    if (!now) return files_.remove_all(path);
    if (*now == *text) return {};
    return files_.write_file(path, *now);
  }

 private:
  std::optional<std::string> text_now(const std::string& name, const Headers& headers) {
    if (headers.empty() || set_name(headers) != name) return std::nullopt;
    std::string text;
    for (const std::string& header : headers) {
      const std::string& line = current_line(header);
      if (line.empty()) return std::nullopt;
      text += line;
    }
    return text;
  }

  const std::string& current_line(const std::string& header) {
    const auto [known, is_new] = lines_.try_emplace(header);
    if (is_new)
      if (const auto identity = files_.identity(header)) known->second = line_of(header, *identity);
    return known->second;
  }

  Path folder_;
  FileSystem& files_;
  std::unordered_map<std::string, std::string> lines_;  // by header, which several sets may hold
};

}  // namespace

Result<std::vector<std::string>> name_header_sets(const std::vector<std::string>& read, int64_t begin_ns,
                                                  FileSystem& files) {
  std::vector<std::string> named;
  std::map<Path, Headers> sets;  // by folder
  for (const std::string& file : read) {
    const auto identity = Path(file).is_absolute() ? files.identity(file) : std::nullopt;
    const bool is_as_read = identity && identity->ctime_ns < begin_ns - k_file_clock_step_ns;
    const bool can_be_listed = file.find('\n') == std::string::npos;
    if (is_as_read && can_be_listed)
      sets[Path(file).parent_path()].push_back(file);
    else
      named.push_back(file);
  }
  for (auto& [folder, headers] : sets) {
    std::sort(headers.begin(), headers.end());
    headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
    const Path set = Path(k_folder) / set_name(headers);
    if (files.kind(set) != FileKind::file) DSBUILD_CHECK(make_set(set, headers, files));
    named.push_back(set.string());
  }
  return named;
}

Result<void> renew_header_sets(const Path& build_dir, FileSystem& files) {
  const Path folder = build_dir / k_folder;
  if (files.kind(folder) != FileKind::directory) return {};
  DSBUILD_TRY(names, files.list(folder));
  Renewal renewal(folder, files);
  for (const std::string& name : names)
    DSBUILD_CHECK(renewal.renew(name));
  return {};
}

}  // namespace dsbuild
