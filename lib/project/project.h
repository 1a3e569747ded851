// Turns a project that builds torch extensions with setup.py or kernel-builder into a pack: `dsbuild new
// --from`, `dsbuild build DIR`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

// A folder with headers: outside the project, as in a `folder` requirement of op.yaml, or in the project for
// the sources of one language.
struct HeaderFolder {
  std::string folder;    // absolute if `in` is ""
  std::string in;        // "packages", "python", k_in_project, ""
  std::string language;  // "cxx", "nvcc"; "": for both
};
inline constexpr const char* k_in_project = "project";

// An extension, described by the commands of the project's own build without the flags that torch adds. Paths
// may be absolute.
struct ProjectExtension {
  std::string name;          // "torch_scatter._scatter_cuda"
  std::string kind;          // "cuda", "cpp"; "plain": neither, a plain setuptools extension
  bool of_torch = true;      // it needs torch's headers and libraries
  std::string where;         // "setup.py:94"
  std::string suffix;        // ".so"; "": Python's own
  std::string package_root;  // the folder of the packages: "", "src"
  std::vector<std::string> sources, include_dirs, libraries, library_dirs, runtime_library_dirs,
      extra_objects, cxx, nvcc, link;
  // -gencode of TORCH_CUDA_ARCH_LIST, as torch's build gives them to an extension whose flags name no archs.
  std::vector<std::string> list_archs;
  std::vector<HeaderFolder> folders;                             // searched after include_dirs
  std::vector<std::pair<std::string, std::string>> defines;      // value "": none
  std::map<std::string, std::vector<std::string>> capabilities;  // for kernel-builder: a source's archs
};

struct Project {
  std::string name, version, license;
  std::string file;               // "setup.py", "build.toml"
  bool whole = false;             // leaves out an extension if any part of it must be left out
  Path folder;                    // absolute, without links
  std::vector<std::string> said;  // notes for the user about the reading
  std::vector<std::string>
      passed;  // variables for `--pass-environment`: a compiler that is a script reads them
  // Variables for compilers and torch's build that setup.py sets; nullopt: it removes the variable.
  std::map<std::string, std::optional<std::string>> environment;
  std::vector<std::pair<std::string, std::vector<std::string>>>
      globs;  // the globs that it called, and their results
  std::vector<ProjectExtension> extensions;
};

struct NamedProject {
  Path path;   // its folder, or an archive of it
  Path given;  // a file with the project as read by python/dsbuild/_hook.py; "": setup.py is run
};

// Runs the project's setup.py until it would compile, by the Python of `settings`, as if there were a GPU and
// with this CUDA (empty: none is known). An archive is unpacked into `unpack_into`. Errors: exit 3 `python`;
// exit 1 `bad_project`, with the last lines that it printed.
Result<Project> read_project(const NamedProject& named, const Path& unpack_into, const Settings& settings,
                             const Path& cuda_home, System& system);

struct ProjectPack {
  std::string text;               // of pack.yaml
  std::vector<std::string> said;  // notes for the user, also about omitted parts; a line each
  std::string archs;  // for --arch, if all CUDA ops have archs in their flags: "8.0;9.0+PTX"; else ""
  std::vector<std::string> missing;  // absent parts that a module needs: sources, objects, defines
  size_t ops = 0;
};
// Pure. The project's extensions as ops; `source_root`: its folder, relative to that of the pack.
ProjectPack pack_of(const Project& project, const std::string& source_root);

struct WrittenProject {
  Path folder;     // of the project
  Path pack_file;  // pack.yaml
  ProjectPack pack;
  std::map<std::string, std::optional<std::string>> environment;  // of Project
  std::vector<std::string> passed;                                // of Project
};
// Reads the project and writes `pack_folder`/pack.yaml, if that changes the file. Errors: those of
// read_project, exit 3 `bad_project` if dsbuild can build no extension of `given`, and exit 1 `io`.
Result<WrittenProject> write_project(const NamedProject& named, const Path& pack_folder,
                                     const Settings& settings, const Path& cuda_home, System& system);

}  // namespace dsbuild
