// Passes a build's failure on to the processes that waited for it, which would only fail in the same way, one
// after the other. Private to lib/load.
#pragma once

#include "driver/session.h"

namespace dsbuild {

// Whether other processes would get the same error: true for a compiler's failure, false for errors of this
// process alone.
bool is_shared(const Error& error);

// Writes the error into the folder of a turn, whose lock the caller holds. `asked`: the op that was to be
// built. `now`, `since`: seconds of the machine's steady clock.
void share_failure(const Path& folder, const std::string& asked, const Error& error, double now,
                   FileSystem& files);
// The error of a build that ended after `since`; nullopt: there is none.
std::optional<Error> failure_since(const Path& folder, const std::string& asked, double since,
                                   const FileReader& files);

}  // namespace dsbuild
