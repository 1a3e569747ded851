// Gives folders of this machine names in the build folder: a command says roots/cuda/bin/nvcc wherever CUDA
// lies. So commands, line markers, depfiles, __FILE__ and records contain no path of this machine, and keys
// are equal on all machines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

class Roots {
 public:
  // Adds a root. `name`: one path component, such as "cuda" or "torch". The first folder of a name wins.
  // Ignores relative folders, and folders of the system (/usr, but not /usr/local/cuda-13.0 nor
  // /usr/lib/…/dist-packages/torch), because these contain other software, too.
  void add(const std::string& name, const std::string& folder);
  // The same for a folder with several spellings. The link in the build folder has the first one.
  void add(const std::string& name, const std::vector<std::string>& spellings);

  // Replaces folders at the beginning of paths by their root names, in a word of a command or a list of
  // folders: "-I/usr/local/cuda/include" -> "-Iroots/cuda/include". Compares spellings; the longest root
  // wins. Does not change macros (-D) and words for the linker (-Wl,).
  std::string named(const std::string& word) const;
  std::vector<std::string> named(std::vector<std::string> words) const;
  // The same for the text after the first blank of each line ("<digest> <path>"). Sorts the lines by the new
  // text, because an order by real paths would differ between machines.
  std::string named_lines(std::string_view text) const;

  // The reverse: "roots/cuda/bin/nvcc" -> "/usr/local/cuda/bin/nvcc".
  std::string real(const std::string& path) const;

  // The links for the build folder, {"roots/cuda", "/usr/local/cuda-13.0"}, sorted by name.
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

// Makes root names in a word absolute, for a tool that runs outside the build folder `here`.
std::string with_absolute_roots(const std::string& word, const Path& here);

}  // namespace dsbuild
