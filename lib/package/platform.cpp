#include "package/platform.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "base/version.h"

namespace dsbuild {
namespace {

// The newest libstdc++ and libgcc that the distributions of a glibc have in common.
struct LibrariesOfTime {
  Version glibc, glibcxx, cxxabi, gcc;
};

const std::vector<LibrariesOfTime>& times() {
  static const std::vector<LibrariesOfTime> table = {
      {{{2, 17}}, {{3, 4, 19}}, {{1, 3, 7}}, {{4, 7}}}, {{{2, 24}}, {{3, 4, 22}}, {{1, 3, 10}}, {{4, 7}}},
      {{{2, 27}}, {{3, 4, 24}}, {{1, 3, 11}}, {{7}}},   {{{2, 31}}, {{3, 4, 28}}, {{1, 3, 12}}, {{7}}},
      {{{2, 34}}, {{3, 4, 29}}, {{1, 3, 13}}, {{7}}},   {{{2, 35}}, {{3, 4, 30}}, {{1, 3, 13}}, {{11}}},
      {{{2, 39}}, {{3, 4, 33}}, {{1, 3, 15}}, {{14}}},
  };
  return table;
}

constexpr std::array<std::string_view, 14> k_promised = {
    "libc.so.6",       "libm.so.6",     "libmvec.so.1",         "libdl.so.2",           "librt.so.1",
    "libpthread.so.0", "libutil.so.1",  "libresolv.so.2",       "libnsl.so.1",          "libanl.so.1",
    "libstdc++.so.6",  "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"};

bool is_promised(const std::string& library) {
  return std::ranges::find(k_promised, library) != k_promised.end();
}

// The lowest glibc beside which `name` has that version; nullopt where none is known. Names that are no part
// of what is promised ask nothing of it.
std::optional<Version> glibc_beside(const std::string& name, const Version& version) {
  if (name == "GLIBC") return version;
  const auto column = name == "GLIBCXX"  ? &LibrariesOfTime::glibcxx
                      : name == "CXXABI" ? &LibrariesOfTime::cxxabi
                      : name == "GCC"    ? &LibrariesOfTime::gcc
                                         : nullptr;
  if (!column) return times().front().glibc;
  const auto time = std::ranges::find_if(times(), [&](const auto& row) { return row.*column >= version; });
  return time == times().end() ? std::nullopt : std::optional(time->glibc);
}

// That does for all of them.
std::optional<Version> lowest_glibc(const std::vector<ManifestRuntime>& libraries) {
  Version lowest = times().front().glibc;
  for (const ManifestRuntime& library : libraries) {
    for (const auto& [name, version] : library.versions) {
      const auto glibc = glibc_beside(name, parse_version(version).value_or(Version{}));
      if (!glibc) return std::nullopt;
      lowest = std::max(lowest, *glibc);
    }
  }
  return lowest;
}

}  // namespace

Platform platform_of(const std::vector<ManifestRuntime>& libraries, const std::string& machine) {
  std::set<std::string> outside;
  for (const ManifestRuntime& library : libraries)
    for (const std::string& needed : library.libraries)
      if (!is_promised(needed)) outside.insert(needed);
  const bool is_musl =
      std::ranges::any_of(outside, [](const std::string& name) { return name.starts_with("libc.musl-"); });
  const auto glibc = is_musl ? std::nullopt : lowest_glibc(libraries);
  const std::string family =
      glibc ? "manylinux_" + std::to_string(glibc->major()) + "_" + std::to_string(glibc->minor()) : "linux";
  return {family + "_" + machine, {outside.begin(), outside.end()}};
}

}  // namespace dsbuild
