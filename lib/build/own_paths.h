// Files as the user knows them: commands of a build run in its folder and name sources as pack/….
#pragma once

#include <string>

#include "base/diagnostics.h"
#include "sys/file_system.h"

namespace dsbuild {

class OwnPaths {
 public:
  // `source_root`: what `pack` stands for; `build_dir`: where commands run.
  OwnPaths(const Path& source_root, const Path& build_dir, const FileReader& files);

  // Relative to the current folder where it lies below that, else absolute. "" stays.
  std::string path(const std::string& file) const;
  // What a tool printed, with each name of a source as the user's.
  std::string text(const std::string& output) const;
  Diagnostic diagnostic(Diagnostic told) const;

 private:
  Path source_root_, build_dir_, current_;
};

}  // namespace dsbuild
