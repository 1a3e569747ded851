#include "policy/spdx_expression.h"

#include <catch2/catch.hpp>

namespace dsbuild {
namespace {

const std::vector<std::string> k_allowed = {"Apache-2.0", "MIT", "GPL-3.0-only WITH GCC-exception-3.1"};

}  // namespace

TEST_CASE("One licence of OR is enough, AND takes both") {
  for (const char* expression :
       {"MIT", "mit", "MIT OR GPL-3.0-only", "GPL-3.0-only OR MIT", "MIT AND Apache-2.0", "(MIT)",
        "GPL-2.0-only OR (MIT AND Apache-2.0)", "MIT or GPL-2.0-only",
        // AND binds before OR.
        "MIT OR GPL-2.0-only AND BSD-2-Clause", "GPL-3.0-only WITH GCC-exception-3.1"})
    CHECK(is_license_allowed(expression, k_allowed) == true);
  for (const char* expression :
       {"GPL-3.0-only", "MIT AND GPL-3.0-only", "GPL-3.0-only AND MIT",
        "(MIT OR Apache-2.0) AND BSD-2-Clause", "Apache-2.0 WITH LLVM-exception",
        "GPL-3.0-only WITH GCC-exception-2.0", "LicenseRef-NVIDIA", "MIT-0", "Apache-2.0+"})
    CHECK(is_license_allowed(expression, k_allowed) == false);
}

TEST_CASE("What is no expression is neither") {
  for (const char* expression :
       {"", " ", "MIT OR", "OR MIT", "MIT MIT", "(MIT", "MIT)", "()", "MIT AND OR MIT", "WITH MIT",
        "MIT WITH", "MIT WITH OR", "MIT OR (Apache-2.0"})
    CHECK_FALSE(is_license_allowed(expression, k_allowed).has_value());
}

}  // namespace dsbuild
