// Evaluates licence expressions (SPDX specification 2.3, annex D): "Apache-2.0 OR (MIT AND BSD-3-Clause)".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// Whether the allowed licences suffice: for OR one side, for AND both. A licence with an exception
// ("GPL-3.0-only WITH GCC-exception-3.1") is one name. Case does not matter. nullopt: it is no expression.
std::optional<bool> is_license_allowed(std::string_view expression, const std::vector<std::string>& allowed);

}  // namespace dsbuild
