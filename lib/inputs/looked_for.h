// Names that a compiler looks for: which file a name means depends on what stands in the folders where it is
// looked for, and that may change without any file that was read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// What a text asks for: `#include`, `#include_next`, `#import`, `#embed`, `__has_include`, `__has_embed`.
struct LookedFor {
  std::set<std::string> names;  // as they are spelled: "sub/x.h", "../x.h"
  bool is_computed = false;     // a macro gives one of them
  bool asks = false;            // __has_include or __has_embed: absence counts too
};
LookedFor names_looked_for(std::string_view text);

// Where names are looked for, and which.
struct NameSearch {
  std::vector<std::string> folders;  // of all files that were read, of -I and the like, the compiler's own
  std::set<std::string> names;
  bool all = false;  // every name below the project's folders counts
  bool operator==(const NameSearch&) const = default;
};
std::string render_search(const NameSearch& search);
NameSearch parse_search(std::string_view text);

// The folders of -I, -isystem, -iquote, -idirafter and, of a link, -L, which may stand in the same word or
// the next.
std::vector<std::string> search_folders(const std::vector<std::string>& command);
// The files that a link's -l words may mean: libx.so and libx.a of -lx, x of -l:x.
std::set<std::string> library_names(const std::vector<std::string>& command);

// Where a name of a search is looked for in one of its folders ("": what the name says alone).
std::string path_in(const std::string& folder, const std::string& name);

// Lists folders once. `root` is the build folder, to which relative ones are relative.
class FolderNames {
 public:
  FolderNames(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}
  // A line for each name of the search that is a file in one of its folders: "<folder>\t<name>". Links are
  // followed; a folder that is not there has none.
  std::string present(const NameSearch& search);

 private:
  bool is_file(const std::string& path);
  const std::unordered_set<std::string>& list(const std::string& folder);
  void add_all(const std::string& folder, const std::string& below, int depth, std::string& text);

  Path at(const Path& path) const { return root_ / path; }

  Path root_;
  const FileReader& files_;
  std::unordered_map<std::string, std::unordered_set<std::string>> listed_;
  std::unordered_map<std::string, bool> known_files_;
};

}  // namespace dsbuild
