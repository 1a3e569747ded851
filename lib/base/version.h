// Dotted version numbers and ranges of them (">=11.0", "==13.*", ">=0.1.15,<0.2").
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dsbuild {

extern const char* const k_version;  // of dsbuild itself, from CMake's project()

// Numbers compare left to right, a missing one counts as 0: 13 == 13.0 < 13.0.88.
struct Version {
  std::vector<int> parts;

  int major() const { return parts.empty() ? 0 : parts[0]; }
  int minor() const { return parts.size() < 2 ? 0 : parts[1]; }
  bool empty() const { return parts.empty(); }
  std::string text() const;        // "13.0.88"
  std::string short_text() const;  // "13.0": major.minor
  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }
};

// Leading digits and dots of `text`; nullopt when it does not start with a digit.
std::optional<Version> parse_version(std::string_view text);

// All of `text` as a version of PEP 440 without an epoch ("2.3.2.post1", "v2.1.0rc1", "2.11.0+cu130"): its
// release number, for that is what is compared. nullopt for anything else.
std::optional<Version> parse_release(std::string_view text);

// Comma-separated clauses, all of which must hold: `>= > <= < == != ~=` then a version of PEP 440, of which
// the release number is compared; a version without an operator means "==" on the parts given (so "13" holds
// for 13.0.88, as "13.*" does). `~=2.1.3` is `>=2.1.3,==2.1.*`.
struct VersionRange {
  std::string text;  // as written
  bool contains(const Version& version) const;
  bool operator==(const VersionRange&) const = default;
};
// Error exit 2, code `bad_version_range`, `where` as given.
Result<VersionRange> parse_version_range(std::string_view text, std::string where);

}  // namespace dsbuild
