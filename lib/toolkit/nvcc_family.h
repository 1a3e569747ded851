// What the row of nvcc is made of. Private to lib/toolkit.
#pragma once

#include "toolkit/family.h"

namespace dsbuild {

// In the order of find_toolkits.
std::vector<ToolkitCandidate> nvcc_candidates(const Settings& settings, const System& system);

// By a dry run, of the compiler with its host compiler.
const DriverProof& nvcc_proof();
Args nvcc_question(const Toolkit& toolkit);
Paths nvcc_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files);
Paths nvcc_device_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files);

}  // namespace dsbuild
