// Renders bills of materials of a bundle: SPDX 2.3 and CycloneDX 1.6, as JSON. The same statement gives the
// same bytes.
#pragma once

#include <string>

#include "provenance/components.h"

namespace dsbuild {

enum class SbomFormat { spdx, cyclonedx };
inline constexpr const char* k_cyclonedx = "cyclonedx";

// `created`: "2026-11-25T10:47:02Z".
std::string render_sbom(const Components& components, const std::string& created, SbomFormat format);
std::string render_spdx(const Components& components, const std::string& created);
std::string render_cyclonedx(const Components& components, const std::string& created);

// The creation time in a bill: `source_date_epoch` if it is a number of seconds, else that of the build, else
// the end of the build.
std::string time_of_sbom(const Statement& statement, const std::string& source_date_epoch);

}  // namespace dsbuild
