#include "sys/cgroup.h"

#include <algorithm>

namespace dsbuild {
namespace {

using Number = unsigned long long;

constexpr const char* k_root = "/sys/fs/cgroup";
constexpr Number k_no_limit_v1 = Number{1}
                                 << 62;  // version 1 says "none" as the highest number of whole pages

// nullopt for "max" and -1, which are no limit, and for anything else that is no number.
std::optional<Number> read_number(const FileReader& files, const Path& path) {
  if (files.kind(path) != FileKind::file) return std::nullopt;
  const auto text = files.read_file(path);
  return text ? whole_number<Number>(trim(*text)) : std::nullopt;
}

// The number behind `key` in a file of "key number" lines; 0 when it is not there.
Number read_keyed_number(const FileReader& files, const Path& path, std::string_view key) {
  const auto text = files.kind(path) == FileKind::file ? files.read_file(path) : Result<std::string>("");
  for (const std::string& line : text ? split_lines(*text) : std::vector<std::string>{}) {
    const auto words = split(line, " ");
    if (words.size() == 2 && words[0] == key) return whole_number<Number>(words[1]).value_or(0);
  }
  return 0;
}

template <class T>
void lower_to(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<int> cores_of(std::optional<Number> quota, std::optional<Number> period) {
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<int>(std::clamp<Number>((*quota + *period - 1) / *period, 1, 1 << 20));
}

Number rest(Number limit, Number used, Number droppable) {
  const Number held = used - std::min(used, droppable);
  return limit - std::min(limit, held);
}

void read_group_v2(const FileReader& files, const Path& group, CgroupLimits& limits) {
  const Path cpu = group / "cpu.max";  // "200000 100000" or "max 100000"
  const auto text = files.kind(cpu) == FileKind::file ? files.read_file(cpu) : Result<std::string>("");
  const auto words = text ? split(*text, " \n") : std::vector<std::string>{};
  if (words.size() == 2)
    lower_to(limits.cores, cores_of(whole_number<Number>(words[0]), whole_number<Number>(words[1])));

  const auto limit = read_number(files, group / "memory.max");
  const auto used = read_number(files, group / "memory.current");
  if (!limit || !used) return;
  const Number droppable = read_keyed_number(files, group / "memory.stat", "inactive_file");
  lower_to(limits.memory_bytes, std::optional(rest(*limit, *used, droppable)));
}

void read_cpu_group_v1(const FileReader& files, const Path& group, CgroupLimits& limits) {
  lower_to(limits.cores, cores_of(read_number(files, group / "cpu.cfs_quota_us"),
                                  read_number(files, group / "cpu.cfs_period_us")));
}

void read_memory_group_v1(const FileReader& files, const Path& group, CgroupLimits& limits) {
  const auto limit = read_number(files, group / "memory.limit_in_bytes");
  const auto used = read_number(files, group / "memory.usage_in_bytes");
  if (!limit || !used || *limit >= k_no_limit_v1) return;
  const Number droppable = read_keyed_number(files, group / "memory.stat", "total_inactive_file");
  lower_to(limits.memory_bytes, std::optional(rest(*limit, *used, droppable)));
}

// From `group` (as /proc/self/cgroup has it) up to `root`, both included. Inside a container the
// path may be the host's, which is not there; the root is then the container's own group.
std::vector<Path> groups_up(const Path& root, const std::string& group) {
  std::vector<Path> groups{root};
  Path at = root;
  for (const Path& name : Path(group).relative_path()) {
    if (name == "..") return {root};
    if (name.empty()) continue;
    at /= name;
    groups.push_back(at);
  }
  return groups;
}

bool holds_word(const std::string& list, const std::string& word) {
  const auto words = split(list, ",");
  return std::find(words.begin(), words.end(), word) != words.end();
}

// One line of /proc/self/cgroup: "0::/path" (version 2) or "4:cpu,cpuacct:/path" (version 1).
void read_line(const FileReader& files, const std::string& line, CgroupLimits& limits) {
  const size_t first = line.find(':');
  const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
  if (second == line.npos) return;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  const std::string group = line.substr(second + 1);
  if (controllers.empty()) {
    for (const Path& path : groups_up(k_root, group))
      read_group_v2(files, path, limits);
  }
  if (holds_word(controllers, "cpu")) {
    for (const Path& path : groups_up(Path(k_root) / "cpu", group))
      read_cpu_group_v1(files, path, limits);
  }
  if (holds_word(controllers, "memory")) {
    for (const Path& path : groups_up(Path(k_root) / "memory", group))
      read_memory_group_v1(files, path, limits);
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const FileReader& files) {
  CgroupLimits limits;
  const auto groups = files.read_file("/proc/self/cgroup");
  for (const std::string& line : groups ? split_lines(*groups) : std::vector<std::string>{}) {
    read_line(files, line, limits);
  }
  return limits;
}

}  // namespace dsbuild
