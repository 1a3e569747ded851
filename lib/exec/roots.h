// Folders of this machine under names of the build folder: a command says roots/cuda/bin/nvcc wherever CUDA
// lies. So commands, line markers, depfiles, __FILE__ and records name no machine, and another machine has
// the same keys.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

class Roots {
 public:
  // `name`: of what lies there ("cuda", "torch"), one component. The first folder of a name stays. A folder
  // that is relative, or is the system's (/usr, but not /usr/local/cuda-13.0 nor /usr/lib/…/dist-packages/
  // torch), is no root: it holds more than the name says.
  void add(const std::string& name, const std::string& folder);
  // The same for a folder with several spellings, the first of which the link has.
  void add(const std::string& name, const std::vector<std::string>& spellings);

  // A word of a command, or a list of folders, with the names of all roots that it begins paths with:
  // "-I/usr/local/cuda/include" -> "-Iroots/cuda/include". Folders count as they are spelled; the longest
  // root counts. Macros (-D) and words for the linker (-Wl,) stay.
  std::string named(const std::string& word) const;
  std::vector<std::string> named(std::vector<std::string> words) const;
  // The same for the text after the first blank of each line ("<digest> <path>"), in the order of that text:
  // one by real paths would differ between machines.
  std::string named_lines(std::string_view text) const;

  // The folder's own name in place of a root's: "/usr/local/cuda/bin/nvcc" of "roots/cuda/bin/nvcc".
  std::string real(const std::string& path) const;

  // {"roots/cuda", "/usr/local/cuda-13.0"}: links of the build folder, sorted by name.
  std::vector<std::pair<std::string, Path>> links() const;
  bool operator==(const Roots&) const = default;

 private:
  struct Root {
    std::string name, folder;
    bool is_linked = true;
    bool operator==(const Root&) const = default;
  };
  const Root* at(std::string_view text) const;

  std::vector<Root> roots_;  // the longest folder first
};

// Words that name roots, for a tool that runs in another folder than the build folder `here`.
std::string with_absolute_roots(const std::string& word, const Path& here);

}  // namespace dsbuild
