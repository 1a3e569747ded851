// A build that failed, told to those who waited for it: they would only fail alike, one after the other.
// Private to lib/load.
#pragma once

#include "driver/session.h"

namespace dsbuild {

// Whether all who ask for the same at the same time get that error: a compiler's, not one of this process.
bool is_shared(const Error& error);

// In the folder of a turn, whose lock is held. `asked`: what was to be built. `now`, `since`: seconds of the
// node's steady clock.
void share_failure(const Path& folder, const std::string& asked, const Error& error, double now,
                   FileSystem& files);
// The error of a build that ended after `since`; nullopt: there is none.
std::optional<Error> failure_since(const Path& folder, const std::string& asked, double since,
                                   const FileReader& files);

}  // namespace dsbuild
