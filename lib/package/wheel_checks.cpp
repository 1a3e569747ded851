#include "package/wheel_checks.h"

#include <algorithm>

#include "base/text.h"
#include "binary/elf_library.h"
#include "package/notices.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_pypi_limit = uint64_t{100} << 20;

// What a wheel may say of where a library's others are: beside itself.
bool is_relative(const std::string& folder) {
  return folder.starts_with("$ORIGIN") || folder.starts_with("${ORIGIN}");
}

}  // namespace

Result<std::vector<Warning>> check_library(Bytes bytes, const std::string& file) {
  const MemoryBytes source(bytes);
  DSBUILD_TRY(library, ElfLibrary::read(ByteRange(source), file));
  std::vector<Warning> warnings;
  for (const std::string& path : library.search_paths()) {
    for (const std::string& folder : split(path, ":")) {
      if (is_relative(folder)) continue;
      warnings.push_back(
          warning("unpackaged_run_path", file,
                  "looks for libraries in '" + printable(folder) + "', a folder of the machine that built it",
                  "Leave -Wl,-rpath out of the op's flags, or name a folder below $ORIGIN."));
    }
  }
  if (library.wants_executable_stack())
    warnings.push_back(warning("executable_stack", file,
                               "asks for an executable stack, and glibc from 2.41 on loads no such library",
                               "Link with -Wl,-z,noexecstack; an assembler file ends with .section "
                               ".note.GNU-stack,\"\",@progbits."));
  return warnings;
}

std::vector<Warning> check_licenses(const Package& package) {
  const bool has_text = std::ranges::any_of(package.info_files, [](const PackageFile& file) {
    return file.path.starts_with(k_license_folder) && !file.path.ends_with(k_notices);
  });
  std::vector<std::string> lacks, fixes;
  if (package.license.empty()) {
    lacks.emplace_back("names no licence");
    fixes.emplace_back("Name it in pack.yaml (license: Apache-2.0).");
  }
  if (!has_text) {
    lacks.emplace_back("has no text of its licence");
    fixes.emplace_back("Put a file LICENSE into the folder of the sources, or of pack.yaml.");
  }
  if (lacks.empty()) return {};
  return {warning("no_license", "pack " + package.pack, join(lacks, " and "),
                  join(fixes, " ") + " Then build again.")};
}

std::vector<Warning> check_for_pypi(const Package& package, uint64_t wheel_bytes) {
  std::vector<Warning> warnings;
  const std::string platform = split(package.tag, "-").back();
  if (wheel_bytes > k_pypi_limit)
    warnings.push_back(warning(
        "pypi_refuses", package.wheel_name(),
        "has " + human_size(wheel_bytes) + ", and PyPI takes files of up to " + human_size(k_pypi_limit),
        "Build fewer ops or archs, ask PyPI for a larger limit, or use an index of your "
        "own (--index own)."));
  if (platform.starts_with("linux_"))
    warnings.push_back(warning(
        "pypi_refuses", package.wheel_name(), "has the tag " + platform + ", and PyPI takes manylinux alone",
        "Build on an older system: no distribution is known whose libraries are as new as "
        "those that it wants."));
  return warnings;
}

}  // namespace dsbuild
