// The names that a compiler searches for, and the files that exist under them. A new file in a searched
// folder may change which file a name finds, although no file that was read has changed.
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

// The names in a text: `#include`, `#include_next`, `#import`, `#embed`, `__has_include`, `__has_embed`.
struct LookedFor {
  std::set<std::string> names;  // as spelled: "sub/x.h", "../x.h"
  bool is_computed = false;     // a macro expands to one of the names
  bool asks = false;            // it has __has_include or __has_embed, so absent names matter, too
};
LookedFor names_looked_for(std::string_view text);

// The names that a compile searches for, and the folders in which it does.
struct NameSearch {
  // Folders of all files that were read, those of -I and the like, and the compiler's own.
  std::vector<std::string> folders;
  std::set<std::string> names;
  bool all = false;  // every name below the project's folders counts
  bool operator==(const NameSearch&) const = default;
};
std::string render_search(const NameSearch& search);
NameSearch parse_search(std::string_view text);

// Compilers take such a file in place of a header, even if the header itself is absent: x.h.gch for x.h, a
// file or a folder of files (gcc: "Using Precompiled Headers"). clang also takes x.h.pch for `-include`. No
// depfile names it.
bool is_precompiled_header(std::string_view path);

// The folders of -I, -isystem, -iquote, -idirafter and, for a link, -L. A folder may be in the same word or
// the next.
std::vector<std::string> search_folders(const std::vector<std::string>& command);
// The headers of -include and -imacros.
std::vector<std::string> forced_headers(const std::vector<std::string>& command);
// The files that a link's -l words may mean: libx.so and libx.a for -lx, x for -l:x.
std::set<std::string> library_names(const std::vector<std::string>& command);

// The path at which a name is searched in a folder; if the folder is "", the name itself.
std::string path_in(const std::string& folder, const std::string& name);

// A name of a search that exists, as a line: "<folder>\t<name>" for a file. "! " before it marks a pipe or
// device, "? " something that cannot be read or examined: a compiler stops at both. "# <identity> " marks a
// folder of several precompiled headers.
struct PresentName {
  std::string folder, name;
  std::string path() const { return path_in(folder, name); }
  std::string text() const;  // the name for a message
  std::string mark;          // the text before it in the line
};
PresentName parse_present(const std::string& line);

// Lists each folder once. `root`: the build folder, from which relative folders count.
class FolderNames {
 public:
  FolderNames(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}
  // The lines of all names of the search that exist, and of their precompiled headers. Follows links. An
  // absent folder has no names; in a folder that cannot be listed, each name is tried.
  std::string present(const NameSearch& search);
  // The caller has read this file just now, so the disk need not be asked for it again.
  void note_file(const std::string& path) { known_.emplace(path, Opening::file); }

 private:
  struct Listing {
    std::unordered_set<std::string> names;
    std::vector<std::string> precompiled;  // of them
    bool is_complete = true;
    bool may_have(const std::string& name) const { return !is_complete || names.count(name) > 0; }
  };
  struct Names;  // of a search, by the folders in them

  void add_below(const std::string& folder, const Names& names, const NameSearch& search, std::string& text);
  void add(const std::string& folder, const std::string& name, std::string& text);
  void add_precompiled(const std::string& folder, const std::string& name, std::string& text);
  void add_all(const std::string& folder, const std::string& below, int depth, std::string& text);
  Opening opening(const std::string& path);
  const Listing& list(const std::string& folder);
  Listing listing_of(const std::string& folder) const;

  Path at(const Path& path) const { return root_ / path; }

  Path root_;
  const FileReader& files_;
  std::unordered_map<std::string, Listing> listed_;
  std::unordered_map<std::string, Opening> known_;
};

}  // namespace dsbuild
