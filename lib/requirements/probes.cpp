#include <array>
#include <utility>

#include "requirements/probe.h"

namespace dsbuild {
namespace {

constexpr std::array<std::pair<RequirementKind, Probe>, 10> k_probes{{
    {RequirementKind::cuda, probe_cuda},
    {RequirementKind::header, probe_header},
    {RequirementKind::library, probe_library},
    {RequirementKind::command, probe_command},
    {RequirementKind::cpu_feature, probe_cpu_feature},
    {RequirementKind::module, probe_module},
    {RequirementKind::tvm_ffi, probe_tvm_ffi},
    {RequirementKind::torch, probe_torch},
    {RequirementKind::cutlass, probe_cutlass},
    {RequirementKind::source, probe_source},
}};

Finding finding_of(const ProbeInput& input, bool ok, std::string why) {
  Finding finding;
  finding.kind = input.requirement.kind;
  finding.subject = input.requirement.text();
  finding.ok = ok;
  finding.why = std::move(why);
  return finding;
}

Finding probe_unknown(const ProbeInput& input) {
  return unmet(input, "dsbuild has no probe for this kind of requirement");
}

}  // namespace

Probe probe_for(RequirementKind kind) {
  for (const auto& [known, probe] : k_probes) {
    if (known == kind) return probe;
  }
  return probe_unknown;
}

Finding met(const ProbeInput& input, std::string why) {
  return finding_of(input, true, std::move(why));
}

Finding unmet(const ProbeInput& input, std::string why, std::string fix) {
  Finding finding = finding_of(input, false, std::move(why));
  finding.fix = std::move(fix);
  return finding;
}

Interpreter interpreter_of(const ProbeInput& input) {
  return {input.settings.python.value, input.system, input.facts};
}

Finding no_compiler(const ProbeInput& input) {
  return unmet(input, "no C++ compiler found", "install g++ or clang++, or name one in CXX");
}

const std::string& subject_of(const ProbeInput& input) {
  static const std::string none;
  return input.requirement.subjects.empty() ? none : input.requirement.subjects.front();
}

std::string macro_value(const std::string& header, const std::string& name) {
  for (const std::string& line : split_lines(header)) {
    const std::vector<std::string> words = split(line, " \t");
    if (words.size() >= 3 && words[0] == "#define" && words[1] == name) return words[2];
  }
  return {};
}

}  // namespace dsbuild
