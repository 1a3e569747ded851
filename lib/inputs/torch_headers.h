// torch's headers: which names are theirs, and which sources reach them. What a compile takes goes by that:
// with them it is most of its time, and several times its memory.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// A file that was read, by its path.
bool is_torchs_header(std::string_view path);

// `interface`: its stable C interface alone (torch/csrc/stable, torch/headeronly), which is short: a part of
// a source takes 2 s with it (torch 2.11, CUDA 13.0), 20 s with torch/extension.h. Of memory it says nothing:
// sources that need no more of torch may hold CUTLASS's templates, of which cicc took 2.5 GiB (xformers).
enum class TorchUse { none, interface, all };

// Before anything was read: what texts include, a source's own and those of the project's headers that it
// reaches. Conditions and macros are not looked at, so it may say more of what a compiler passes over.
class TorchIncludes {
 public:
  // Files that do not lie below the root (absolute) are not looked into.
  TorchIncludes(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}
  // `folders`: where names are looked for, as well as in the folder of each file; relative ones are below the
  // root.
  TorchUse use(const Path& source, const std::vector<Path>& folders);

 private:
  const std::set<std::string>& names_in(const Path& file);

  const Path root_;
  const FileReader& files_;
  std::map<Path, std::set<std::string>> names_;  // each file is read once
};

}  // namespace dsbuild
