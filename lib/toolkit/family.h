// Families of device compilers: where their toolkits are, what such a compiler says of itself, what it is
// made of. One row each. Private to lib/toolkit, but for the row's name and vendor.
#pragma once

#include "toolkit/tool_answers.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

struct ToolkitCandidate {
  Path home;
  std::string origin;  // as Toolkit::origin
  bool named = false;  // the user named it: worth a word if it is none
};

struct CompilerFamily {
  const char* name;           // before a version: "CUDA"
  const Vendor& (*vendor)();  // of its targets
  const char* compiler;       // below a toolkit's home: "bin/nvcc"
  const char* configuration;  // likewise; what it does depends on this file: "bin/nvcc.profile"

  // In order of preference; without looking into the homes, so some may hold no compiler and some may be the
  // same folder.
  std::vector<ToolkitCandidate> (*candidates)(const Settings& settings, const System& system);
  // Fills a toolkit of which family, home and origin are known, but for its host compiler and its compiler's
  // digest. The error is the reason why it cannot be used.
  tl::expected<void, std::string> (*describe)(Toolkit& toolkit, System& system, FactStore& facts);
  // Asks a compiler anew, as is due for a script, which may stand for another one by now: false where it says
  // something else than `facts` did, which know it from then on.
  bool (*answers_as_known)(const Toolkit& toolkit, System& system, FactStore& facts);
  // The programs that it starts and the files that it reads unasked.
  Result<Paths> (*parts)(const Toolkit& toolkit, const Environment& environment, System& system);
};

extern const CompilerFamily k_nvcc_family;  // nvcc_family.cpp
const std::vector<const CompilerFamily*>& compiler_families();

}  // namespace dsbuild
