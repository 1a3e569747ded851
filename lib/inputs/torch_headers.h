// Tells which files are torch's headers, and which sources include them. A compile with them spends most of
// its time on them, and needs several times the memory.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// Whether the path of a file that was read is that of a torch header.
bool is_torchs_header(std::string_view path);

// `interface`: its stable C interface alone (torch/csrc/stable, torch/headeronly), which is short: a part of
// a source takes 2 s with it (torch 2.11, CUDA 13.0), 20 s with torch/extension.h. Of memory it says nothing:
// sources that need no more of torch may hold CUTLASS's templates, of which cicc took 2.5 GiB (xformers).
enum class TorchUse { none, interface, all };

// Predicts a source's use of torch from the #include lines of the source and of the project's headers that it
// reaches. Ignores conditions and macros, so it may report headers that a compiler would skip.
class TorchIncludes {
 public:
  // Reads only files below `root`, which is absolute.
  TorchIncludes(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}
  // `folders`: further folders in which names are searched, besides the folder of each file; relative ones
  // are below the root.
  TorchUse use(const Path& source, const std::vector<Path>& folders);

 private:
  const std::set<std::string>& names_in(const Path& file);

  const Path root_;
  const FileReader& files_;
  std::map<Path, std::set<std::string>> names_;  // each file is read once
};

}  // namespace dsbuild
