// The compilers that the ops of a plan need. A survey of everything may have more of them.
#pragma once

#include <vector>

#include "driver/survey.h"
#include "exec/roots.h"

namespace dsbuild {

struct NeededTools {
  std::vector<Toolkit> toolkits;  // one of each vendor that an op is for, in the survey's order
  HostCompiler cxx;               // of CPU ops
  ArchSet requested;              // the survey's, without those of vendors that no op is for

  ToolkitSet set() const;       // names members of this value
  const Toolkit* cuda() const;  // nullptr: there is no CUDA op
};

// Errors: a needed tool is missing.
Result<NeededTools> find_needed_tools(const Survey& survey);

// The parts of the tools, as keys have them: paths by their roots.
Result<ToolParts> identify_tools(const Survey& survey, const NeededTools& needed, const Roots& roots,
                                 Session& session);

}  // namespace dsbuild
