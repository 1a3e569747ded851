#include "arch/cpu_level.h"

#include <algorithm>

namespace dsbuild {
namespace {

constexpr const char* k_native = "native";

// A feature as /proc/cpuinfo calls it, and the compilers' flag for it.
struct Feature {
  const char* name;
  const char* flag;
};

CpuLevel level_above(const CpuLevel& lower, const char* name, const char* number,
                     const std::vector<Feature>& more) {
  CpuLevel level = lower;
  level.name = name;
  level.number = parse_version(number).value();
  for (const Feature& feature : more) {
    level.flags.emplace_back(feature.flag);
    level.features.emplace_back(feature.name);
  }
  std::sort(level.features.begin(), level.features.end());
  return level;
}

// The levels of the x86-64 psABI, feature by feature: gcc knows -march=x86-64-v3 from version 11 on only.
std::vector<CpuLevel> x86_levels() {
  const CpuLevel v1{"x86-64", "x86_64", parse_version("1").value(), {"-march=x86-64"}, {}};
  const CpuLevel v2 = level_above(v1, "x86-64-v2", "2",
                                  {{"cx16", "-mcx16"},
                                   {"lahf_lm", "-msahf"},
                                   {"popcnt", "-mpopcnt"},
                                   {"pni", "-msse3"},
                                   {"ssse3", "-mssse3"},
                                   {"sse4_1", "-msse4.1"},
                                   {"sse4_2", "-msse4.2"}});
  const CpuLevel v3 = level_above(v2, "x86-64-v3", "3",
                                  {{"avx", "-mavx"},
                                   {"avx2", "-mavx2"},
                                   {"bmi1", "-mbmi"},
                                   {"bmi2", "-mbmi2"},
                                   {"f16c", "-mf16c"},
                                   {"fma", "-mfma"},
                                   {"abm", "-mlzcnt"},
                                   {"movbe", "-mmovbe"},
                                   {"xsave", "-mxsave"}});
  const CpuLevel v4 = level_above(v3, "x86-64-v4", "4",
                                  {{"avx512f", "-mavx512f"},
                                   {"avx512bw", "-mavx512bw"},
                                   {"avx512cd", "-mavx512cd"},
                                   {"avx512dq", "-mavx512dq"},
                                   {"avx512vl", "-mavx512vl"}});
  return {v1, v2, v3, v4};
}

CpuLevel arm_level(const char* name, const char* number, std::vector<std::string> features) {
  return {
      name, "aarch64", parse_version(number).value(), {std::string("-march=") + name}, std::move(features)};
}

std::vector<CpuLevel> all_levels() {
  std::vector<CpuLevel> levels = x86_levels();
  levels.push_back(arm_level("armv8-a", "8", {"asimd"}));
  levels.push_back(arm_level("armv8.2-a", "8.2", {"asimd", "asimdrdm", "atomics", "crc32", "dcpop"}));
  levels.push_back(
      arm_level("armv9-a", "9", {"asimd", "asimdrdm", "atomics", "crc32", "dcpop", "sve", "sve2"}));
  return levels;
}

CpuLevel highest_level(const std::string& machine, const std::string& features) {
  CpuLevel highest;
  for (const CpuLevel& level : cpu_levels())
    if (level.machine == machine &&
        (highest.name.empty() || missing_features(level.features, features).empty()))
      highest = level;
  return highest;
}

std::vector<std::string> choices(const std::string& machine) {
  std::vector<std::string> names{k_native};
  for (const CpuLevel& level : cpu_levels())
    if (level.machine == machine) names.push_back(level.name);
  return names;
}

}  // namespace

const std::vector<CpuLevel>& cpu_levels() {
  static const std::vector<CpuLevel> levels = all_levels();
  return levels;
}

Result<CpuLevel> find_cpu_level(const std::string& name, const std::string& where, const std::string& machine,
                                const std::string& features) {
  if (name == k_native) return highest_level(machine, features);
  const std::string usual = machine == "aarch64" ? "armv8.2-a" : "x86-64-v3";
  for (const CpuLevel& level : cpu_levels())
    if (level.machine == machine && level.name == (name.empty() ? usual : name)) return level;
  const std::vector<std::string> known = choices(machine);
  return fail(Exit::usage, "bad_choice", where,
              "'" + printable(name) + "' is not a CPU level of " + machine + did_you_mean(name, known),
              "Choose " + join(known, ", ") + ".");
}

std::vector<std::string> missing_features(const std::vector<std::string>& needed,
                                          const std::string& features) {
  const std::vector<std::string> present = split(features, " \t");
  std::vector<std::string> missing;
  for (const std::string& feature : needed)
    if (std::find(present.begin(), present.end(), feature) == present.end()) missing.push_back(feature);
  return missing;
}

}  // namespace dsbuild
