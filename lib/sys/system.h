// Everything of the outside world that a stage may touch, handed to it by main.
#pragma once

#include "sys/file_system.h"
#include "sys/process.h"

namespace dsbuild {

// How tools are started, besides what all of them get (toolkit/toolkit.h).
struct ToolStart {
  std::vector<std::string> passed{};  // names of variables that they get too; "SITE_*": all that begin so
  Path folder{};                      // where they work, or will; "": in the current folder
};

struct System {
  FileSystem& files;
  ProcessRunner& processes;
  Environment environment;  // the caller's, read once by main
  Path program{};           // this executable, real path; its neighbours were installed with it
  ToolStart tools{};        // of the request that is worked on
};

// To be called before anything else: gives descriptors 0 to 2 a meaning where the caller closed
// them, so that no file of ours becomes stdout. Writing to one of these still fails.
void open_standard_descriptors();
// Likewise: what a caller ignores or blocks is inherited. One that ignores the end of its children, or whose
// threads block signals, would leave us unable to wait for ours, or to be ended. SIGPIPE is ignored: a reader
// that goes away (`| head -1`) must not end a build half way. So is SIGXFSZ: a
// file that may not grow (ulimit -f) is an error of writing, with a message.
void set_own_signals();

Environment read_environment();
std::string variable(const Environment& environment, const std::string& name);  // "" if it is not set
// For what depends on them: a line each.
std::string values_of(const Environment& environment, const std::vector<std::string>& names);

// Looks `name` up in `path_variable` (colon-separated); a name with a slash is taken as it is.
std::optional<Path> find_program(const FileReader& files, const std::string& name,
                                 const std::string& path_variable);
// The same on the caller's PATH, and on that of a tool's environment.
std::optional<Path> find_program(const System& system, const std::string& name);
std::optional<Path> find_program(const FileReader& files, const std::string& name,
                                 const Environment& environment);
std::vector<std::string> path_folders(const System& system);

}  // namespace dsbuild
