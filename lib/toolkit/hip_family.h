// What the row of HIP is made of: clang, for ROCm's trees and those like them. Private to lib/toolkit.
#pragma once

#include "toolkit/compiler_facts.h"
#include "toolkit/family.h"

namespace dsbuild {

// In the order of find_toolkits.
std::vector<ToolkitCandidate> hip_candidates(const Settings& settings, const System& system);
// Each clang++ of a home: ROCm's, then those of Debian's LLVM packages, highest first; none where the home
// has no HIP headers.
std::vector<std::string> hip_compilers(const Path& home, const FileReader& files);

// `bitcode`: the folder of its device libraries. A start for its version and the processors that it knows,
// and dry runs that tell for which of them it finds device libraries.
CompilerQuestion question_to_clang(const Toolkit& toolkit, const Path& bitcode, System& system,
                                   FactStore& facts);

// By a dry run for all targets, and by the dynamic loader.
Args hip_question(const Toolkit& toolkit);
Paths hip_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files);
// Its compiler and linker.
Paths hip_device_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files);
Args hip_include_question(const Toolkit& toolkit);

}  // namespace dsbuild
