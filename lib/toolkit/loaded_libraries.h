// The libraries that programs load when they start: of a compiler that is made of them the program itself is
// next to nothing, and others round and fold as the system's libm does. Private to lib/toolkit.
#pragma once

#include "sys/digest_memo.h"
#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

// Absolute paths, of all programs among `parts` together, without those of /etc/ld.so.preload. Asked is the
// dynamic loader, which says it instead of starting a program (LD_TRACE_LOADED_OBJECTS, ld.so(8)). Its answer
// is remembered under `what` and LD_LIBRARY_PATH for as long as `text`, which is to change with the parts,
// the loader's cache and the folders of that path are the same, and all that it named is there. A folder that
// comes to be found first by a program's own search path is not seen.
Result<Paths> loaded_libraries(const std::string& what, const Paths& parts, const std::string& text,
                               const Environment& environment, System& system, FactStore& facts,
                               DigestMemo& digests);

}  // namespace dsbuild
