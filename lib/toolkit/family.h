// Families of device compilers: where their toolkits are, what such a compiler says of itself, what it is
// made of. One row each. Private to lib/toolkit, but for the row's names, its vendor, and by what the user
// names its toolkits.
#pragma once

#include "toolkit/tool_answers.h"
#include "toolkit/toolkit.h"
#include "toolkit/wrappers.h"

namespace dsbuild {

struct ToolkitCandidate {
  Path home;
  std::string origin;  // as Toolkit::origin
  bool named = false;  // the user named it: worth a word if it is none
};

struct CompilerFamily {
  const char* name;           // before a version: "CUDA"
  const char* brand;          // before "toolkit": "CUDA"
  const char* tool;           // its compiler's name in a graph: "nvcc"
  const Vendor& (*vendor)();  // of its targets
  const char* compiler;       // below a toolkit's home: "bin/nvcc"
  const char* configuration;  // likewise; what it does depends on this file: "bin/nvcc.profile"

  // By which it is given the compiler that makes its host code, and assembles it: "-ccbin"; nullptr: it makes
  // that itself, or is given one with each source.
  const char* host_option;

  // What the user names toolkits by: the option demands one, the variables say which one is preferred.
  Setting<Path> Settings::* home;
  const char* home_option;                  // "--cuda-home"
  std::vector<const char*> home_variables;  // "CUDA_HOME", "CUDA_PATH"

  // Those that are not named, in order of preference; without looking into the homes, so some may hold no
  // compiler and some may be the same folder.
  std::vector<ToolkitCandidate> (*candidates)(const Settings& settings, const System& system);
  // The compilers of a home, below it; empty: the usual one may be there.
  std::vector<std::string> (*other_compilers)(const Path& home, const FileReader& files);
  // Fills a toolkit of which family, home, compiler and origin are known, but for its host compiler and its
  // compiler's digest. The error is the reason why it cannot be used.
  tl::expected<void, std::string> (*describe)(Toolkit& toolkit, System& system, FactStore& facts);
  // Asks a wrapper again, because it may start a different compiler now. Returns false if its answer differs
  // from `facts`, and stores the new answer.
  bool (*answers_as_known)(const Toolkit& toolkit, System& system, FactStore& facts);
  // The test that shows that a compiler is no wrapper.
  const DriverProof& (*proof)();
  // A whole command line that it answers with what it would run, and what that tells: the programs that it
  // starts and the files that it reads unasked.
  Args (*question)(const Toolkit& toolkit);
  Paths (*parts)(const std::string& said, const Toolkit& toolkit, const FileReader& files);
  // Of those, the ones whose tools read nothing but preprocessed text and parts; nullptr: there are none.
  Paths (*device_parts)(const std::string& said, const Toolkit& toolkit, const FileReader& files);
  // The options with which it says, by -v, where it looks for headers; none: as its host compiler does.
  Args (*include_question)(const Toolkit& toolkit);
  // One line that says how to install a toolkit; nullptr: `dsbuild toolkits get` can fetch it.
  const char* install = nullptr;
};

extern const CompilerFamily k_nvcc_family;  // nvcc_family.cpp
extern const CompilerFamily k_hip_family;   // hip_family.cpp
const std::vector<const CompilerFamily*>& compiler_families();
const CompilerFamily& family_for(const Vendor& vendor);

bool demands_home(const CompilerFamily& family, const Settings& settings);    // by its option
bool is_preference(const CompilerFamily& family, const std::string& origin);  // one of its variables

}  // namespace dsbuild
