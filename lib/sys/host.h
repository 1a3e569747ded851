// Describes this machine, as seen from inside its container.
#pragma once

#include <string>

#include "sys/cgroup.h"
#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

struct Host {
  std::string os;                              // "linux"; uname -s in lower case
  std::string machine;                         // "x86_64", "aarch64"
  int cores = 1;                               // affinity mask and cgroup cpu.max (v1 and v2), at least 1
  unsigned long long memory_bytes = 0;         // available: the lesser of MemAvailable and the cgroup's rest
  CgroupLimits cgroup;                         // the container's limits for cores and memory
  unsigned long long shared_memory_bytes = 0;  // size of /dev/shm; 0: there is none
  std::string cpu_features;  // blank-separated flags of /proc/cpuinfo ("avx2 avx512f"); sorted
  bool operator==(const Host&) const = default;
};

Host read_host(const FileReader& files);

}  // namespace dsbuild
