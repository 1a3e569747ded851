// Warns of faults in a wheel that pip would install nevertheless.
#pragma once

#include <vector>

#include "package/package.h"

namespace dsbuild {

// `unpackaged_run_path`: a library searches for others in a folder of the build machine. `executable_stack`:
// glibc from 2.41 on refuses to load it. Exit 1 `bad_elf` for a library that cannot be read.
Result<std::vector<Warning>> check_library(Bytes bytes, const std::string& file);

// `no_license` if the pack names no licence, or its text was not found.
std::vector<Warning> check_licenses(const Package& package);

// `pypi_refuses`: the file is too large (100 MiB, unless PyPI grants more), or PyPI does not accept the tag.
std::vector<Warning> check_for_pypi(const Package& package, uint64_t wheel_bytes);

}  // namespace dsbuild
