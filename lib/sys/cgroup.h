// Reads the limits of a container from control groups (versions 1 and 2), in /proc/self/cgroup and
// /sys/fs/cgroup. Source of the rules: cgroups(7), the kernel's admin-guide/cgroup-v2. A limit may stand on
// any group from ours up to the root; the least holds.
#pragma once

#include <optional>

#include "sys/file_system.h"

namespace dsbuild {

struct CgroupLimits {
  std::optional<int> cores;  // rounded up
  // What is left of the memory limit. File contents that the kernel can drop do not count as used.
  std::optional<unsigned long long> memory_bytes;
  bool operator==(const CgroupLimits&) const = default;
};

CgroupLimits read_cgroup_limits(const FileReader& files);

}  // namespace dsbuild
