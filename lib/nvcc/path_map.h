// Maps file names of an nvcc call, which belongs to no build folder, to names in a build folder. The
// preprocessor runs in the call's folder and gets the names as given, so that __FILE__ is the same as with
// nvcc. Records, keys and the tools after the preprocessor use the names of a build folder ("pack/…"), which
// are equal in all checkouts.
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
  // The root is a temporary folder into which a project was unpacked, and whose name differs each time. Then
  // host code gets own names of the text's files, too (__FILE__).
  bool is_temporary = false;

  bool empty() const { return folder.empty(); }
  // "../csrc/a.h" -> "pack/csrc/a.h"; the absolute name of a file that is not below the root.
  std::string own_name(const std::string& given) const;
  // The other way: relative to the folder where the source was given so and the file lies below that, else
  // absolute.
  std::string given_name(const std::string& own) const;
  // Replaces the include folders and the source in a compile command by own names.
  std::vector<std::string> own_words(std::vector<std::string> command) const;
  // A preprocessed text with own names in its markers. As it is where it may read the name of its file and
  // the root is not temporary; where it is, string literals that name a file of the text have own names too.
  std::string with_own_names(std::string_view text) const;
  // Replaces own names in tools' output for such a text by the given ones.
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
