// One part of a translation unit in the build folder: where its files lie, and what it is made by.
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
  std::string folder_in_objects;  // for the build folder, where objects name it
  std::string tools;              // what those are made of that its result is a matter of
  Environment environment;        // of the tools

  // Whether it preprocesses: what follows is given all that it reads. The others read headers or start the
  // host's assembler.
  bool reads_source() const { return !step.preprocess.empty(); }
  // A file between two tools.
  std::string in_scratch(const std::string& end) const { return (scratch / (stem + end)).string(); }
  // The words with what the stand-ins stand for; `unit` is the stand-in's path from where the command runs.
  Args expand(const Args& words, const std::string& unit) const;
  // Of text that compilers read: all of it that their output depends on.
  std::string text_for_key(const std::string& text) const;
  // Of all that the commands' output depends on. Names are free of the op: an op that shares the source has
  // the same key.
  Key key_of(std::string_view inputs, const std::vector<Args>& commands) const;
};

Result<StepUnit> load_step_unit(const SliceStep& request, const System& system);

}  // namespace dsbuild
