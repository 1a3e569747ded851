// `dsbuild verify --rebuild`: builds a bundle again from its provenance, and compares the two.
#pragma once

#include "driver/request.h"
#include "driver/session.h"
#include "provenance/statement.h"

namespace dsbuild {

// A request for the build that a statement describes.
struct RebuildRequest {
  Request request;
  Environment environment;  // for the tools; it has the statement's SOURCE_DATE_EPOCH, and no variables that
                            // set options
};
// `typed`: options of this command line that name places on this machine (--pack, --source, --cuda-home). The
// build will run in `folder` without a cache. Errors: exit 2 `unknown_pack` if the folder of the statement's
// pack is not known here; those of load_settings.
Result<RebuildRequest> request_of_statement(const Statement& statement, const Arguments& typed,
                                            const System& system, const Path& data_dir, const Path& folder);

// The first difference between two statements, in words: dsbuild's version, options, variables, then tools,
// packages, sources and headers, first those of `file`. "" if there is none.
std::string first_cause(const Statement& before, const Statement& now, const std::string& file);

// Compares the bundle with the rebuilt one. Error: exit 1 `rebuild_differs` with the first file that differs,
// the position of the first differing byte, and the cause.
Result<void> compare_rebuilt(const Path& bundle, const Path& rebuilt, const FileReader& files);

}  // namespace dsbuild
