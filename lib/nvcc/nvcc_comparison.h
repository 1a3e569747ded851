// `dsbuild action compare …`: compares the objects that slices made in a build with those that nvcc makes of
// the same source.
#pragma once

#include "exec/engine.h"
#include "nvcc/compare_objects.h"
#include "nvcc/step_file.h"

namespace dsbuild {

// Paths are relative to the build folder, which is the current one.
struct NvccComparison {
  std::string source;  // "pack/adam.cu"
  // The objects to compare. nvcc's object has a folder of its own, which also has nvcc's intermediate files
  // (`--keep`) and module id.
  ObjectFiles objects;
  std::vector<std::string> step_files;  // of all parts, in their order
};

// Compares as objects_differ_by, with our module id in place of nvcc's, which has a checksum of the source's
// absolute path in it. Where something differs (line information names the build folder; nvcc's id may be
// longer) the steps run twice more: with nvcc's module id and folder, which must give what nvcc made, and
// with our own, which must give, byte for byte, the objects that are there. "" where all is the same; then
// nothing is left of what was made for it.
Result<std::string> compare_with_nvcc(const NvccComparison& request, Engine& engine);

}  // namespace dsbuild
