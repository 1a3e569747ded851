// The entries of pack.yaml for a project's extensions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "project/project.h"

namespace dsbuild {

// An entry of include_dirs.
struct PackFolder {
  std::string path;
  std::string language;  // `for`; "": none
  bool operator==(const PackFolder&) const = default;
};

// The keys of an op, and of `defaults`.
struct PackKeys {
  std::vector<PackFolder> include_dirs;
  std::vector<std::string> cxx, nvcc, link, libraries;
  std::vector<std::pair<std::string, std::string>> defines;
  std::string std_cxx, std_nvcc;
  std::string undefined_symbols;  // "warn"; "": the default
  bool operator==(const PackKeys&) const = default;
};

struct PackSource {
  std::string path;  // or a glob
  bool is_glob = false;
  std::vector<std::string> archs;
};

struct PackOp {
  std::string name, module, suffix, where;
  bool is_cuda = true, of_torch = true, has_device_code = false;
  std::vector<PackSource> sources;
  PackKeys keys;
  std::vector<HeaderFolder> folders;
  std::vector<std::string> archs;         // patterns of `only`
  std::vector<std::string> arch_request;  // for --arch
  std::vector<std::string> left_out;      // comments
  std::vector<std::string> missing;       // files or macros without which the op would not be complete
};

// "torch-scatter" -> "torch_scatter": the form of names of packs and ops.
std::string plain_name(const std::string& text);

// `said`: of the pack; what the project said comes first. `ops` lose what `defaults` says for all.
std::string pack_text(const Project& project, const std::string& source_root,
                      const std::vector<std::string>& said, std::vector<PackOp> ops);

}  // namespace dsbuild
