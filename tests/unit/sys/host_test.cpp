#include "sys/host.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "sys/cgroup.h"

using namespace dsbuild;

namespace {

constexpr unsigned long long k_gib = 1ULL << 30;

CgroupLimits limits(std::optional<int> cores, std::optional<unsigned long long> memory) {
  return {cores, memory};
}

}  // namespace

TEST_CASE("Without control groups there is no limit") {
  const FakeFileSystem files;
  CHECK(read_cgroup_limits(files) == limits(std::nullopt, std::nullopt));
}

TEST_CASE("Version 2: cpu.max is quota and period, rounded up to whole cores") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/\n");
  files.add_file("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  CHECK(read_cgroup_limits(files).cores == 3);
  files.add_file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  CHECK(read_cgroup_limits(files).cores == 1);
  files.add_file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  CHECK_FALSE(read_cgroup_limits(files).cores);
}

TEST_CASE("Version 2: the least limit from our group up to the root holds") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/user.slice/job\n");
  files.add_file("/sys/fs/cgroup/user.slice/job/cpu.max", "800000 100000\n");
  files.add_file("/sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
  files.add_file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  CHECK(read_cgroup_limits(files).cores == 4);
}

TEST_CASE("Version 2: a host's path, which is not there in the container, leaves the root") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/../../docker/0123\n");
  files.add_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(read_cgroup_limits(files).cores == 2);
  files.add_file("/proc/self/cgroup", "0::/docker/0123\n");
  CHECK(read_cgroup_limits(files).cores == 2);
}

TEST_CASE("Version 2: the rest of the memory does not count what the kernel can drop as used") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/\n");
  files.add_file("/sys/fs/cgroup/memory.max", std::to_string(8 * k_gib) + "\n");
  files.add_file("/sys/fs/cgroup/memory.current", std::to_string(6 * k_gib) + "\n");
  CHECK(read_cgroup_limits(files).memory_bytes == 2 * k_gib);
  files.add_file("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file " + std::to_string(3 * k_gib) + "\n");
  CHECK(read_cgroup_limits(files).memory_bytes == 5 * k_gib);
  files.add_file("/sys/fs/cgroup/memory.max", "max\n");
  CHECK_FALSE(read_cgroup_limits(files).memory_bytes);
}

TEST_CASE("Version 1: each controller has its own tree") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup",
                 "11:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123\n1:name=systemd:/\n");
  files.add_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  files.add_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  files.add_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(4 * k_gib) + "\n");
  files.add_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(3 * k_gib) + "\n");
  files.add_file("/sys/fs/cgroup/memory/memory.stat",
                 "total_inactive_file " + std::to_string(2 * k_gib) + "\n");
  CHECK(read_cgroup_limits(files) == limits(2, 3 * k_gib));
  files.add_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  CHECK_FALSE(read_cgroup_limits(files).cores);
  files.add_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK_FALSE(read_cgroup_limits(files).memory_bytes);
}

TEST_CASE("Garbage in these files is no limit") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/\nxx\n:\n7:cpu\n");
  for (const std::string text : {"", "x y", "100000", "100000 0", "-5 100000", "99999999999999999999999 1"}) {
    files.add_file("/sys/fs/cgroup/cpu.max", text);
    files.add_file("/sys/fs/cgroup/memory.max", text);
    files.add_file("/sys/fs/cgroup/memory.current", text);
    INFO(text);
    CHECK_FALSE(read_cgroup_limits(files).cores);
  }
}

TEST_CASE("The host's memory is the lesser of what is available and what the group leaves") {
  FakeFileSystem files;
  files.add_file("/proc/meminfo", "MemTotal:       32000000 kB\nMemAvailable:    4194304 kB\n");
  CHECK(read_host(files).memory_bytes == 4 * k_gib);
  files.add_file("/proc/self/cgroup", "0::/\n");
  files.add_file("/sys/fs/cgroup/memory.max", std::to_string(2 * k_gib));
  files.add_file("/sys/fs/cgroup/memory.current", std::to_string(k_gib));
  CHECK(read_host(files).memory_bytes == k_gib);
}

TEST_CASE("The processor's features are sorted, under either architecture's name") {
  FakeFileSystem files;
  files.add_file("/proc/cpuinfo",
                 "processor\t: 0\nflags\t\t: sse2 avx2 avx512f\n\nprocessor\t: 1\nflags\t\t: x\n");
  CHECK(read_host(files).cpu_features == "avx2 avx512f sse2");
  files.add_file("/proc/cpuinfo", "processor\t: 0\nFeatures\t: sve fp asimd\n");
  CHECK(read_host(files).cpu_features == "asimd fp sve");
}

TEST_CASE("A group's cores limit the host's, never below one") {
  FakeFileSystem files;
  files.add_file("/proc/self/cgroup", "0::/\n");
  files.add_file("/sys/fs/cgroup/cpu.max", "1000 100000\n");
  CHECK(read_host(files).cores == 1);
}

TEST_CASE("This machine has a name, a core and memory") {
  const Host host = read_host(*make_real_file_system());
  CHECK(host.os == "linux");
  CHECK_FALSE(host.machine.empty());
  CHECK(host.cores >= 1);
  CHECK(host.memory_bytes > 0);
}
