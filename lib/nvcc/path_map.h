// The place of a translation unit that belongs to no build folder: a command line of nvcc names it. Its
// folder is the one in which that was given. The preprocessor runs there and gets the names as they were
// given, so that __FILE__ is what nvcc would make of it. Records, keys and the tools after the preprocessor
// use the names of a build folder ("pack/…"), which are the same in another checkout.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

struct PathMap {
  std::string
      folder;  // absolute: where the command was given; "": in a build folder, and nothing is to be done
  std::string root;    // absolute, without links: what "pack" stands for
  std::string source;  // as it was given
  // The root is a folder that somebody unpacked a project into, and that another has another name for: host
  // code has own names of the text's files, too (__FILE__).
  bool is_temporary = false;

  bool empty() const { return folder.empty(); }
  // "pack/csrc/a.h" of "../csrc/a.h"; of what does not lie below the root the absolute name.
  std::string own_name(const std::string& given) const;
  // The other way: relative to the folder where the source was given so and the file lies below that, else
  // absolute.
  std::string given_name(const std::string& own) const;
  // Of a compile command: its include folders and its source.
  std::vector<std::string> own_words(std::vector<std::string> command) const;
  // A preprocessed text with own names in its markers. As it is where it may read the name of its file and
  // the root is not temporary; where it is, string literals that name a file of the text have own names too.
  std::string with_own_names(std::string_view text) const;
  // What tools said of such a text.
  std::string with_given_names(const std::string& said) const;
  bool operator==(const PathMap&) const = default;

 private:
  using FileNames = std::set<std::string, std::less<>>;
  void add_with_own_literals(std::string_view line, const FileNames& files, std::string& text) const;
};

// Names of files in PTX as `with_own_names` gives them to the code of a temporary root.
bool has_own_names(std::string_view ptx);

// The root of a source that is given in a folder, both absolute: the nearest folder above both, or that of
// the source where they have less than two folders in common (as a project in /tmp that is built in /home).
std::string root_of(const std::string& source, const std::string& folder);

}  // namespace dsbuild
