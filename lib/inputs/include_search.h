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

// Compilers take such a file in place of a header, next to the header's place, even where the header itself
// is absent: "x.h.gch" of x.h, a file or a folder of them (gcc: "Using Precompiled Headers";
// clang takes x.h.pch too, of headers that are included by force). No depfile names it.
bool is_precompiled_header(std::string_view path);

// The folders of -I, -isystem, -iquote, -idirafter and, of a link, -L, which may stand in the same word or
// the next.
std::vector<std::string> search_folders(const std::vector<std::string>& command);
// The headers that a compile includes by force (-include, -imacros).
std::vector<std::string> forced_headers(const std::vector<std::string>& command);
// The files that a link's -l words may mean: libx.so and libx.a of -lx, x of -l:x.
std::set<std::string> library_names(const std::vector<std::string>& command);

// Where a name of a search is looked for in one of its folders ("": what the name says alone).
std::string path_in(const std::string& folder, const std::string& name);

// The names of a search that are there, one to a line: "<folder>\t<name>" of a file; with "! " before it of
// what is neither a file nor a folder, with "? " of what cannot be read, or not be told: a compiler does not
// pass over those two. "# <identity> " stands before a folder of several precompiled headers.
struct PresentName {
  std::string folder, name;
  std::string path() const { return path_in(folder, name); }
  std::string text() const;  // of the name, for a message
  std::string mark;          // what stands before it
};
PresentName parse_present(const std::string& line);

// Lists folders once. `root` is the build folder, to which relative ones are relative.
class FolderNames {
 public:
  FolderNames(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}
  // Lines of what is there of the names of the search, and of what is precompiled of them. Links are
  // followed; a folder that is not there has none, and in one that cannot be listed each name is tried.
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
