// The compilers that the ops of a plan need. A survey may have more.
#pragma once

#include <vector>

#include "driver/survey.h"
#include "exec/roots.h"

namespace dsbuild {

struct NeededTools {
  std::vector<Toolkit> toolkits;  // one for each vendor that the ops need, in the survey's order
  HostCompiler cxx;               // for CPU ops
  ArchSet requested;              // the survey's, without targets of vendors that no op needs

  ToolkitSet set() const;       // points into this value
  const Toolkit* cuda() const;  // nullptr if there is no CUDA op
};

// Error: a needed tool is missing.
Result<NeededTools> find_needed_tools(const Survey& survey);

// The parts of the tools as keys contain them, with paths by their roots.
Result<ToolParts> identify_tools(const Survey& survey, const NeededTools& needed, const Roots& roots,
                                 Session& session);

}  // namespace dsbuild
