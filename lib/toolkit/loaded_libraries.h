// The libraries that programs load when they start: of a compiler that is made of them the program itself is
// next to nothing, and others round and fold as the system's libm does. Private to lib/toolkit.
#pragma once

#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

// Absolute paths, without those of /etc/ld.so.preload. Asked is the dynamic loader, which says it instead of
// starting the program (LD_TRACE_LOADED_OBJECTS, ld.so(8)). Its answer is remembered for as long as the
// program, the loader's cache, the folders of LD_LIBRARY_PATH and the libraries are the same. A folder that
// comes to be found first by a program's own search path is not seen.
Result<Paths> loaded_libraries(const Path& program, const Environment& environment, System& system,
                               FactStore& facts);

// Those of all programs among the parts of a compiler.
Result<Paths> libraries_of_parts(const Paths& parts, const Environment& environment, System& system,
                                 FactStore& facts);

}  // namespace dsbuild
