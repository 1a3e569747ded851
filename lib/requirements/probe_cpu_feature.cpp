// {cpu: avx2}: the CPU of the machine that builds has the feature.
#include <algorithm>

#include "requirements/probe.h"

namespace dsbuild {

Finding probe_cpu_feature(const ProbeInput& input) {
  const std::vector<std::string> features = split(input.host.cpu_features, " ");
  if (features.empty()) return unmet(input, "the features of this CPU are not known");
  const bool has = std::find(features.begin(), features.end(), subject_of(input)) != features.end();
  if (has) return met(input, "this CPU has " + subject_of(input));
  return unmet(input, "this CPU (" + input.host.machine + ") lacks " + subject_of(input));
}

}  // namespace dsbuild
