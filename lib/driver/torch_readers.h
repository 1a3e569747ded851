// Which sources read torch's headers, for the guesses of what their edges take.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

// Inputs of edges ("pack/a.cu"), as EdgeHistory has them.
struct TorchReaders {
  std::set<std::string> all;
  std::set<std::string> of_interface;  // alone
};

// By the records of the build folder, which say what was read of the source as it is. Of a source without
// such a record, by what it and the pack's headers include, which also tells whether that is torch's
// interface alone.
TorchReaders find_torch_readers(const Survey& survey, const ArchPlan& archs, const SourceDigests& digests,
                                Session& session);

}  // namespace dsbuild
