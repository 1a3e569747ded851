// One part of a translation unit in the build folder: its files and tools.
#pragma once

#include "nvcc/run_step.h"

namespace dsbuild {

struct StepUnit {
  SliceStep request;
  StepFile step;
  std::string path, stem;         // "obj/adam/adam.cu/adam", "adam"
  Path scratch;                   // a folder of this part's own, while it runs
  std::string arch_list;          // the value of __CUDA_ARCH_LIST__
  std::string module_id;          // free of paths
  std::string folder_in_objects;  // replaces the build folder's path in objects
  std::string tools;              // the digests of the tools on which its result depends
  Environment environment;        // of the tools

  // Whether the part starts with the preprocessor; then all its later tools are hermetic. Other parts read
  // headers or start the host's assembler.
  bool reads_source() const { return !step.preprocess.empty(); }
  // A file between two tools.
  std::string in_scratch(const std::string& end) const { return (scratch / (stem + end)).string(); }
  // Replaces the stand-ins in words. `unit`: the path for k_any_unit from the folder in which the command
  // runs.
  Args expand(const Args& words, const std::string& unit) const;
  // The part of a text on which the compilers' output depends.
  std::string text_for_key(const std::string& text) const;
  // The key of everything on which the commands' output depends. Its names do not contain the op, so ops that
  // share the source have equal keys.
  Key key_of(std::string_view inputs, const std::vector<Args>& commands) const;
};

Result<StepUnit> load_step_unit(const SliceStep& request, const System& system);

}  // namespace dsbuild
