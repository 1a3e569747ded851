// Finds the sources that read torch's headers, because their edges take more time and memory.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

// Inputs of edges ("pack/a.cu"), as in EdgeHistory.
struct TorchReaders {
  std::set<std::string> all;
  std::set<std::string> of_interface;  // those of `all` that read only torch's stable C interface
};

// If the build folder has a record of the source's present text, the record decides. Else the #include lines
// of the source and of the pack's headers decide; these also tell whether the source reads only torch's
// stable C interface.
TorchReaders find_torch_readers(const Survey& survey, const ArchPlan& archs, const SourceDigests& digests,
                                Session& session);

}  // namespace dsbuild
