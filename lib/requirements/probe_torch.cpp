// {torch: ">=2.4"}: the version that Python's package data gives; torch is not imported.
#include "requirements/probe.h"
#include "requirements/python.h"

namespace dsbuild {

Finding probe_torch(const ProbeInput& input) {
  const Result<Witnessed> answer = find_torch(input.system, input.facts);
  if (!answer) return unmet(input, answer.error().what);
  const std::optional<Version> version = parse_version(answer->answer);
  if (!version) return unmet(input, "torch has no version that can be read: '" + answer->answer + "'");
  Finding finding = input.requirement.range.contains(*version)
                        ? met(input, "torch " + answer->answer)
                        : unmet(input, "torch " + answer->answer + " is not " + input.requirement.range.text);
  finding.version = version->text();
  return finding;
}

}  // namespace dsbuild
