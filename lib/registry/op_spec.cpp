#include "registry/op_spec.h"

#include <algorithm>
#include <array>

#include "registry/arch_pattern.h"
#include "registry/registry.h"
#include "registry/requirement_kinds.h"

namespace dsbuild {
namespace {

// One condition over a set; false for an empty set, and for a text that is no condition.
bool any_holds(const std::string& text, const ArchSet& archs) {
  const auto condition = parse_arch_condition(text);
  return condition && std::any_of(archs.begin(), archs.end(),
                                  [&](const Target& target) { return condition->holds_for(target); });
}

bool every_holds(const std::string& text, const ArchSet& archs) {
  const auto condition = parse_arch_condition(text);
  return condition && !archs.empty() && std::all_of(archs.begin(), archs.end(), [&](const Target& target) {
           return condition->holds_for(target);
         });
}

bool version_holds(const std::optional<VersionRange>& range, const Version& version) {
  return !range || (!version.empty() && range->contains(version));
}

bool accelerator_holds(const When& when, const std::string& accelerator) {
  return when.accelerator.empty() || when.accelerator == accelerator;
}

// Those that a condition on all of them does not hold for.
std::string refused_archs(const std::string& text, const ArchSet& archs) {
  const auto condition = parse_arch_condition(text);
  std::vector<std::string> refused;
  for (const Target& target : archs)
    if (!condition || !condition->holds_for(target)) refused.push_back(target.text());
  return refused.empty() ? "no arch" : join(refused, ", ");
}

std::string version_text(const std::string& what, const Version& version) {
  return version.empty() ? "unknown version of " + what : what + " " + version.text();
}

}  // namespace

bool When::empty() const {
  return *this == When{};
}

bool is_of_version(const When& when, const Version& source) {
  return version_holds(when.source, source) ||
         std::any_of(when.or_else.begin(), when.or_else.end(),
                     [&](const When& other) { return is_of_version(other, source); });
}

bool may_hold(const When& when, const Version& source, const std::string& accelerator) {
  return (version_holds(when.source, source) && accelerator_holds(when, accelerator)) ||
         std::any_of(when.or_else.begin(), when.or_else.end(),
                     [&](const When& other) { return may_hold(other, source, accelerator); });
}

std::string When::text() const {
  std::vector<std::string> parts, ways;
  const auto add = [&](const std::string& what, const std::string& condition) {
    if (!condition.empty()) parts.push_back(what + " " + condition);
  };
  add("an arch", any_arch);
  add("every arch", every_arch);
  add("CPU", cpu);
  add("CUDA", cuda ? cuda->text : "");
  add("ROCm", rocm ? rocm->text : "");
  add("torch", torch ? torch->text : "");
  add("sources", source ? source->text : "");
  add("CPU level", cpu_level ? cpu_level->text : "");
  if (!accelerator.empty()) parts.push_back("DS_ACCELERATOR=" + accelerator);
  ways.push_back(join(parts, " and "));
  for (const When& other : or_else)
    ways.push_back(other.text());
  return join(ways, ", or ");
}

bool holds(const When& when, const WhenContext& context) {
  return !refusal(when, context) || std::any_of(when.or_else.begin(), when.or_else.end(),
                                                [&](const When& other) { return holds(other, context); });
}

std::optional<std::string> refusal(const When& when, const WhenContext& context) {
  if (!when.any_arch.empty() && !any_holds(when.any_arch, context.archs))
    return "no " + when.any_arch + " in the list";
  if (!when.every_arch.empty() && !every_holds(when.every_arch, context.archs))
    return refused_archs(when.every_arch, context.archs) + " in the list";
  if (!when.cpu.empty() && when.cpu != context.cpu) return "not on " + when.cpu;
  if (!version_holds(when.cuda, context.cuda)) return version_text("CUDA", context.cuda);
  if (!version_holds(when.rocm, context.rocm)) return version_text("ROCm", context.rocm);
  if (!version_holds(when.torch, context.torch)) return version_text("torch", context.torch);
  if (!version_holds(when.source, context.source)) return version_text("sources", context.source);
  if (!accelerator_holds(when, context.accelerator)) return "accelerator " + context.accelerator;
  if (!version_holds(when.cpu_level, context.cpu_level.number)) return "CPU level " + context.cpu_level.name;
  return std::nullopt;
}

bool SourceSpec::is_cuda() const {
  return Path(path).extension() == ".cu";
}

bool SourceSpec::is_for(BackendKind kind) const {
  return backends.empty() || std::ranges::find(backends, kind) != backends.end();
}

bool SourceSpec::has_device_code(BackendKind kind) const {
  switch (kind) {
    case BackendKind::cuda:
      return is_cuda();
    case BackendKind::hip:
      return is_cuda() || path.ends_with(".hip");
    case BackendKind::sycl:
      return path.ends_with(".sycl") || path.ends_with(".sycl.cpp");
    case BackendKind::cpu:
      break;
  }
  return false;
}

std::string SourceSpec::id() const {
  std::string id = path;
  for (const auto& [name, value] : defines)
    id.append(",").append(name).append("=").append(value);
  return id;
}

bool makes_device_link(const OpSpec& spec) {
  return spec.backend == BackendKind::cuda &&
         std::ranges::any_of(spec.flags.nvcc, is_for_device_link, &Entry<std::string>::value);
}

bool has_value(const OpSpec& spec, const std::string& value) {
  const auto any_flag = [end = "=" + value](const Flags& flags) {
    return std::ranges::any_of(std::array{&flags.cxx, &flags.hip}, [&](const TextEntries* entries) {
      return std::ranges::any_of(*entries, [&](const auto& entry) { return entry.value.ends_with(end); });
    });
  };
  return any_flag(spec.flags) ||
         std::ranges::any_of(spec.sources, [&](const SourceSpec& each) { return any_flag(each.flags); }) ||
         std::ranges::any_of(spec.defines, [&](const auto& define) { return define.value.second == value; });
}

OpSpec for_backend(OpSpec spec, BackendKind kind) {
  const auto filter_of = [kind](const std::map<BackendKind, ArchFilter>& filters) {
    const auto own = filters.find(kind);
    return own == filters.end() ? ArchFilter{} : own->second;
  };
  spec.backend = kind;
  spec.archs = filter_of(spec.archs_of);
  for (SourceSpec& source : spec.sources)
    source.archs = filter_of(source.archs_of);
  return spec;
}

std::string Requirement::text() const {
  std::string text = kind_row(kind).text;
  if (!subjects.empty()) text += " " + join(subjects, " or ");
  if (!function.empty()) text += " with " + function;
  if (!in.empty()) text += " in " + in;
  if (!range.text.empty()) text += " " + range.text;
  return text;
}

}  // namespace dsbuild
