#include "sys/host.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <vector>

namespace dsbuild {
namespace {

int cores_in_affinity_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // More cores than the set has room for.
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

// The text behind "name:" in a /proc file; "" when it is not there.
std::string value_in(const std::string& text, std::string_view name) {
  for (const std::string& line : split_lines(text)) {
    const size_t colon = line.find(':');
    if (colon != line.npos && trim(line.substr(0, colon)) == name) return trim(line.substr(colon + 1));
  }
  return "";
}

std::string read_or_empty(const FileReader& files, const Path& path) {
  return files.read_file(path).value_or("");
}

// "MemAvailable:   24031236 kB".
unsigned long long available_memory(const FileReader& files) {
  const std::string value = value_in(read_or_empty(files, "/proc/meminfo"), "MemAvailable");
  unsigned long long kibibytes = 0;
  std::from_chars(value.data(), value.data() + value.size(), kibibytes);
  return kibibytes * 1024;
}

// x86 calls them flags, aarch64 Features; the first processor speaks for all.
std::string sorted_cpu_features(const FileReader& files) {
  const std::string text = read_or_empty(files, "/proc/cpuinfo");
  const std::string flags = value_in(text, "flags");
  std::vector<std::string> features = split(flags.empty() ? value_in(text, "Features") : flags, " \t");
  std::sort(features.begin(), features.end());
  return join(features, " ");
}

unsigned long long size_of_file_system(const char* mount_point) {
  struct statvfs answer{};
  if (::statvfs(mount_point, &answer) != 0) return 0;
  return static_cast<unsigned long long>(answer.f_blocks) * answer.f_frsize;
}

}  // namespace

Host read_host(const FileReader& files) {
  Host host;
  utsname system{};
  ::uname(&system);
  host.os = to_lower(system.sysname);
  host.machine = system.machine;
  host.cgroup = read_cgroup_limits(files);
  host.cores = std::min(cores_in_affinity_mask(), host.cgroup.cores.value_or(1 << 20));
  host.memory_bytes = available_memory(files);
  if (host.cgroup.memory_bytes) host.memory_bytes = std::min(host.memory_bytes, *host.cgroup.memory_bytes);
  host.shared_memory_bytes = size_of_file_system("/dev/shm");
  host.cpu_features = sorted_cpu_features(files);
  return host;
}

}  // namespace dsbuild
