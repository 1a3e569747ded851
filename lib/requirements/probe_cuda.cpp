// {cuda: ">=11.0"}: the chosen toolkit's version.
#include "requirements/probe.h"

namespace dsbuild {

Finding probe_cuda(const ProbeInput& input) {
  if (input.toolkit == nullptr) return unmet(input, "no CUDA toolkit");
  const Version& version = input.toolkit->version;
  const std::string named = input.toolkit->name() + " in " + input.toolkit->home.string();
  Finding finding = input.requirement.range.contains(version)
                        ? met(input, named)
                        : unmet(input, named + " is not " + input.requirement.range.text);
  finding.version = version.text();
  return finding;
}

}  // namespace dsbuild
