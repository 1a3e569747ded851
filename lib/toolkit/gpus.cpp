#include <algorithm>

#include "base/text.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

std::vector<ComputeCapability> find_gpus(System& system) {
  const auto answer =
      system.processes.run({{"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"},
                            system.environment,
                            {},
                            std::chrono::seconds(30)});
  std::vector<ComputeCapability> gpus;
  if (!answer || !answer->ok()) return gpus;
  for (const std::string& line : split_lines(answer->out)) {
    const auto version = parse_version(trim(line));
    if (version && version->parts.size() == 2) gpus.push_back({version->major(), version->minor()});
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

}  // namespace dsbuild
