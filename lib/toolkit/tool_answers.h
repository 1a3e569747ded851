// What compilers say when they are asked what they are made of. Private to lib/toolkit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/args.h"
#include "sys/system.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

using Paths = std::set<std::string>;

// Where the dynamic loader looks first: folders, as tool_environment leaves them.
inline constexpr const char* k_library_path = "LD_LIBRARY_PATH";

// Of questions, which need no folder for temporary files; that of builds is relative to the build folder.
Environment asking_environment(const System& system, const Toolkit* toolkit);

// What it prints to each, in their order, all asked at once. A tool that does not answer may be made of
// anything: what it was made of before tells nothing, so that nothing is remembered of it, and nothing is
// built with it (exit 3 `tool_does_not_answer`).
Result<std::vector<std::string>> said_by_all(const std::vector<Args>& questions,
                                             const Environment& environment, System& system);

// The same of one that may not know the words, and then ends with a code: "".
Result<std::string> said_if_known(const Args& argv, const Environment& environment, System& system);

// The files among the words of a text: "/usr/bin/x", "-plugin-opt=/usr/bin/x".
Paths files_named_in(const std::string& text, const FileReader& files);

}  // namespace dsbuild
