#include "registry/registry.h"

#include <algorithm>

namespace dsbuild {
namespace {

template <class T>
std::vector<T> holding(const std::vector<Entry<T>>& entries, const WhenContext& context) {
  std::vector<T> values;
  for (const Entry<T>& entry : entries) {
    if (holds(entry.when, context)) values.push_back(entry.value);
  }
  return values;
}

// Sources and requirements carry their `when` themselves.
template <class T>
std::vector<T> those_that_hold(const std::vector<T>& all, const WhenContext& context) {
  std::vector<T> some;
  for (const T& one : all) {
    if (holds(one.when, context)) some.push_back(one);
  }
  return some;
}

void add(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// "-DROCM_WAVEFRONT_SIZE=rocm.wavefront" -> "-DROCM_WAVEFRONT_SIZE=64"
std::string with_value(const std::string& flag, const WhenContext& context) {
  const size_t equals = flag.find('=');
  if (equals == std::string::npos) return flag;
  const std::string value = flag.substr(equals + 1), before = flag.substr(0, equals + 1);
  if (value == k_rocm_major_value) return before + std::to_string(context.rocm.major());
  if (value == k_rocm_minor_value) return before + std::to_string(context.rocm.minor());
  if (value == k_wavefront_value) return before + std::to_string(context.wavefront);
  return flag;
}

std::string define_flag(const std::pair<std::string, std::string>& define, const WhenContext& context) {
  return with_value("-D" + define.first + (define.second.empty() ? "" : "=" + define.second), context);
}

void add_flags(std::vector<std::string>& to, const TextEntries& flags, const WhenContext& context) {
  for (const std::string& flag : holding(flags, context))
    add(to, flag == k_baseline_flag ? context.cpu_level.flags
                                    : std::vector<std::string>{with_value(flag, context)});
}

// One order for every tool: -std, the op's flags, the source's flags, the op's defines, those of `for`.
std::vector<std::string> compile_args(std::optional<int> standard, const TextEntries& op_flags,
                                      const TextEntries& source_flags, const OpSpec& spec,
                                      const SourceSpec& source, const WhenContext& context) {
  std::vector<std::string> args = {"-std=c++" + std::to_string(standard.value_or(context.usual_std))};
  add_flags(args, op_flags, context);
  add_flags(args, source_flags, context);
  for (const auto& define : holding(spec.defines, context))
    args.push_back(define_flag(define, context));
  for (const auto& define : source.defines)
    args.push_back(define_flag(define, context));
  return args;
}

// nvlink makes machine code, and drops the PTX of what it links.
FilteredArchs without_ptx(FilteredArchs filtered) {
  for (const Target& target : filtered.kept) {
    if (!target.is_virtual()) continue;
    const auto asked = filtered.specialised.find(target);
    filtered.dropped.push_back(
        {asked == filtered.specialised.end() ? target : asked->second, "-rdc=true links no PTX"});
    filtered.specialised.erase(target);
  }
  std::erase_if(filtered.kept, [](const Target& target) { return target.is_virtual(); });
  std::ranges::sort(filtered.dropped, {}, &DroppedArch::target);
  return filtered;
}

}  // namespace

std::vector<SourceSpec> OpBuilder::sources(const WhenContext& context) const {
  std::vector<SourceSpec> sources = those_that_hold(spec_.sources, context);
  std::erase_if(sources, [&](const SourceSpec& source) { return !source.is_for(spec_.backend); });
  return sources;
}

std::vector<std::string> OpBuilder::include_paths(const WhenContext& context,
                                                  const std::string& language) const {
  std::vector<std::string> paths = holding(spec_.include_dirs, context);
  std::erase_if(paths, [&](const std::string& path) {
    const auto only = spec_.include_languages.find(path);
    return only != spec_.include_languages.end() && !language.empty() && only->second != language;
  });
  return paths;
}

std::vector<std::string> OpBuilder::cxx_args(const SourceSpec& source, const WhenContext& context) const {
  return compile_args(spec_.std_cxx, spec_.flags.cxx, source.flags.cxx, spec_, source, context);
}

std::vector<std::string> OpBuilder::nvcc_args(const SourceSpec& source, const WhenContext& context) const {
  return compile_args(spec_.std_nvcc, spec_.flags.nvcc, source.flags.nvcc, spec_, source, context);
}

std::vector<std::string> OpBuilder::hip_args(const SourceSpec& source, const WhenContext& context) const {
  return compile_args(spec_.std_hip, spec_.flags.hip, source.flags.hip, spec_, source, context);
}

std::vector<std::string> OpBuilder::sycl_args(const SourceSpec& source, const WhenContext& context) const {
  return compile_args(spec_.std_sycl, spec_.flags.sycl, source.flags.sycl, spec_, source, context);
}

bool OpBuilder::uses_cpu_level(const SourceSpec& source, const WhenContext& context) const {
  if (source.has_device_code(spec_.backend)) return false;
  for (const TextEntries* flags : {&spec_.flags.cxx, &source.flags.cxx}) {
    const std::vector<std::string> held = holding(*flags, context);
    if (std::find(held.begin(), held.end(), k_baseline_flag) != held.end()) return true;
  }
  return false;
}

std::vector<std::string> OpBuilder::extra_ldflags(const WhenContext& context) const {
  std::vector<std::string> flags = holding(spec_.flags.link, context);
  for (const std::string& library : holding(spec_.libraries, context))
    flags.push_back("-l" + library);
  return flags;
}

std::vector<std::string> OpBuilder::features_off(const WhenContext& context) const {
  std::vector<std::string> off;
  for (const auto& define : spec_.defines) {
    const auto feature = spec_.features.find(define.value.first);
    if (feature == spec_.features.end() || holds(define.when, context)) continue;
    off.push_back(feature->second + ": off (" + refusal(define.when, context).value_or("") + ")");
  }
  return off;
}

std::vector<std::string> OpBuilder::needs(const WhenContext& context) const {
  return holding(spec_.needs, context);
}

std::vector<std::string> OpBuilder::exports(const WhenContext& context) const {
  return holding(spec_.exports, context);
}

std::vector<Requirement> OpBuilder::requirements(const WhenContext& context) const {
  return those_that_hold(spec_.requires_, context);
}

FilteredArchs OpBuilder::filter_archs(const ArchSet& requested) const {
  FilteredArchs filtered = apply_filter(spec_.archs, requested);
  return makes_device_link(spec_) ? without_ptx(std::move(filtered)) : filtered;
}

}  // namespace dsbuild
