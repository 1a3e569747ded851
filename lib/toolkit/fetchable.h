// What `dsbuild toolkits get` fetches (scripts/get_toolkit.sh). A row each.
#pragma once

#include <string>
#include <vector>

#include "toolkit/toolkit.h"

namespace dsbuild {

struct FetchableToolkit {
  const CompilerFamily* family;
  const char* word;                    // "13.5"
  const char* name;                    // "CUDA 13.5"
  const char* folder;                  // below the folder of toolkits in the cache: "13.5"
  const char* gpus;                    // "7.5 and newer"
  bool (*can_target)(const ArchSet&);  // all of it
};
// Of each family, the preferred one first.
const std::vector<FetchableToolkit>& fetchable_toolkits();
// "11.8|13.5|hip".
std::string fetchable_words();
// Those that target all of `needed` and go with torch's CUDA, where it has one; the preferred one first.
std::vector<const FetchableToolkit*> fetchable_for(const CompilerFamily& family, const ArchSet& needed,
                                                   const Version& torch_cuda);

}  // namespace dsbuild
