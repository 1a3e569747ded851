// Everything of the outside world that a stage may touch, handed to it by main.
#pragma once

#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

struct System {
  FileSystem& files;
  ProcessRunner& processes;
  Environment environment;  // the caller's, read once by main
};

Environment read_environment();

// Looks `name` up in `path_variable` (colon-separated); a name with a slash is taken as it is.
std::optional<Path> find_program(const FileReader& files, const std::string& name,
                                 const std::string& path_variable);

}  // namespace dsbuild
