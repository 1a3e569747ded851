// What is wrong with a wheel that pip would install all the same: warnings.
#pragma once

#include <vector>

#include "package/package.h"

namespace dsbuild {

// `unpackaged_run_path`: a library looks for others in a folder of the machine that built it.
// `executable_stack`: glibc from 2.41 on refuses to load it.
// Exit 1 `bad_elf` for a library that cannot be read.
Result<std::vector<Warning>> check_library(Bytes bytes, const std::string& file);

// `no_license` where the pack names none, or no text of it was found.
std::vector<Warning> check_licenses(const Package& package);

// `pypi_refuses`: too large a file (100 MiB unless a larger limit was granted), or a tag that PyPI does not
// take.
std::vector<Warning> check_for_pypi(const Package& package, uint64_t wheel_bytes);

}  // namespace dsbuild
