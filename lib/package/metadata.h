// Writes METADATA of a wheel (PEP 566, 639, 753), which pip reads and an index shows.
#pragma once

#include <string>

#include "package/package.h"

namespace dsbuild {

// The default page for an index, in Markdown: the wheel's ops, and its GPUs and CPUs.
std::string describe_package(const Package& package, const Manifest& manifest);

std::string render_metadata(const Package& package);

}  // namespace dsbuild
