// METADATA of a wheel (PEP 566, 639, 753): what an index shows of it, and pip reads.
#pragma once

#include <string>

#include "package/package.h"

namespace dsbuild {

// The page that an index shows where no file is given: what is in the wheel and which GPUs and CPUs it is
// for. Markdown.
std::string describe_package(const Package& package, const Manifest& manifest);

std::string render_metadata(const Package& package);

}  // namespace dsbuild
