// Finds a spec's files below the source root. Private to this stage.
#pragma once

#include "registry/spec_reader.h"

namespace dsbuild {

// Checks that `path` is a file (or folder) inside the source root, with links followed. Errors: exit 2
// `missing_source` with the source root and similar names in it, exit 2 `bad_spec` for anything else.
Result<void> check_on_disk(const SpecFile& file, const YamlNode& at, const std::string& path,
                           FileKind wanted);

// The files that a glob matches, relative to the source root, sorted. `*` and `?` stand for characters of one
// part, and not for a leading dot; a part `**` for any folders, none too, that are neither hidden nor links.
// No match is an error.
Result<std::vector<std::string>> expand_glob(const SpecFile& file, const YamlNode& at,
                                             const std::string& glob);

}  // namespace dsbuild
