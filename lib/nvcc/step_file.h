// Step files: the commands of a sliced edge, in a file of the build folder whose name is its digest. So
// build.ninja stays small, and an edge's command changes exactly if its step file changes.
#pragma once

#include "nvcc/line_normalization.h"
#include "nvcc/nvcc_commands.h"
#include "nvcc/path_map.h"

namespace dsbuild {

// `preprocess` of a step runs in the build folder and gives text; each later command runs in the folder of
// its files.
struct StepFile {
  std::string part;  // "front", "compute_80", "host", "fatbin"
  Environment environment;
  Args preprocess;             // front and device parts
  std::vector<Args> commands;  // run after the preprocessor, on its text
  // Of the outputs and inputs, what follows the unit's name: {".compute_80.ptx", ".compute_80.cubin"}.
  // Any of the outputs may be the edge's own.
  std::vector<std::string> inputs, outputs;
  KeptPositions positions = KeptPositions::none;
  PathMap place;  // of a command line of nvcc's: where its preprocessor and host compiler run
  Args nvcc;      // the whole command without archs and source, only for messages
  bool operator==(const StepFile&) const = default;
};

// Pure. Lines of a word and a shell-quoted rest.
std::string render_step_file(const StepFile& step);
StepFile parse_step_file(std::string_view text);

// The steps of one translation unit: front, one of each device arch, host, fatbin.
std::vector<StepFile> plan_steps(const NvccCommands& commands, const Args& nvcc);

// A module id of the source's own name ("pack/adam.cu") alone: an op's images do not depend on which ops
// share it. cudafe++ makes it part of names. Its form is that of nvcc's, so that a comparison can put one in
// the other's place (nvcc/compare_objects.h).
std::string module_id_of(const std::string& source);

}  // namespace dsbuild
