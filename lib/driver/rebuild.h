// A bundle made again from its provenance alone, and compared with what it is.
#pragma once

#include "driver/request.h"
#include "driver/session.h"
#include "provenance/statement.h"

namespace dsbuild {

// A request for the build that a statement describes.
struct RebuildRequest {
  Request request;
  Environment
      environment;  // for the tools: SOURCE_DATE_EPOCH is the statement's, and no option is a variable's
};
// `typed`: options of this command line, which say where things are here (--pack, --source, --cuda-home). All
// is made in `folder`, from nothing: no result of a cache counts. Errors: `unknown_pack`, exit 2, where the
// statement's pack has no folder here; those of load_settings.
Result<RebuildRequest> request_of_statement(const Statement& statement, const Arguments& typed,
                                            const System& system, const Path& data_dir, const Path& folder);

// What makes the statement of a build another one than that of an earlier build, in words: the first of
// dsbuild, options, tools, packages, sources and headers, those of `file` first. "": both say the same.
std::string first_cause(const Statement& before, const Statement& now, const std::string& file);

// The bundle against the one that was made again. Error: exit 1 `rebuild_differs` with the first file that
// differs, the place of the first byte, and the cause.
Result<void> compare_rebuilt(const Path& bundle, const Path& rebuilt, const FileReader& files);

}  // namespace dsbuild
