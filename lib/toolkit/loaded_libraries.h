// Finds the libraries that programs load at their start. Some compilers consist almost only of libraries, and
// others compute constants with the system's libm. Private to lib/toolkit.
#pragma once

#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

// Absolute paths, without those of /etc/ld.so.preload. Asks the dynamic loader, which prints them without a
// start of the program (LD_TRACE_LOADED_OBJECTS, ld.so(8)). The answer is stored as long as the program, the
// loader's cache, the folders of LD_LIBRARY_PATH and the libraries are unchanged. Does not notice a new
// folder in a program's own search path.
Result<Paths> loaded_libraries(const Path& program, const Environment& environment, System& system,
                               FactStore& facts);

// Those of all programs among the parts of a compiler.
Result<Paths> libraries_of_parts(const Paths& parts, const Environment& environment, System& system,
                                 FactStore& facts);

}  // namespace dsbuild
