// The preprocessed text of a source for one part, and its keys.
#pragma once

#include "base/digest.h"
#include "nvcc/line_information.h"
#include "nvcc/slice_tools.h"

namespace dsbuild {

// Two files next to a part whose source has a place (lib/nvcc/path_map.h). The first is there where the
// part's text has the place's root in no name but those of its files. The second lists the files that the
// text comes from, in the order of their first line. Each line has "s" for a system header, else "u", and
// the name as a marker spells it.
inline constexpr const char* k_free_of_root_end = ".free_of_root";
inline constexpr const char* k_headers_end = ".headers";

class SourceText {
 public:
  SourceText(const StepUnit& unit, FileSystem& files) : unit_(unit), files_(files), command_(command()) {}

  // Runs the preprocessor. The value is its exit code.
  Result<int> preprocess(SliceTools& tools);
  // Of the text that preprocess() made. Where compilers read it with other names than its own
  // (lib/nvcc/arch_tagged_symbols.h), it is the same for every list of archs but for the list at its end.
  ResultKey key() const {
    const Key key = unit_.key_of(unit_.text_for_key(text_), unit_.step.commands);
    return {key.digest(), has_common_names_ ? unit_.arch_list : ""};
  }
  // The same with all lines: what tools say of the text names them.
  std::string key_of_lines() const { return sha256(text_); }
  // Facts about the text, from which the memory gate estimates the memory of compilers.
  SeenText seen() const;
  // From now on, compilers read the unchanged text, without common names.
  Result<void> take_own_names();
  // Device code that the text became has names of its files that only a temporary root gave it
  // (PathMap::is_temporary).
  bool gave_names_to(std::string_view ptx) const { return !given_text_.empty() && has_own_names(ptx); }
  FilesRead files_read() const;
  // Whether the PTX has column numbers that differ because of the common names.
  bool has_columns_of_names(std::string_view ptx) const;

 private:
  Args command() const;
  Result<void> note_what_was_read(const Path& depfile_of_preprocessor);
  Result<void> take_common_names();
  Result<void> take_own_place();
  Result<void> take_given_text();

  const StepUnit& unit_;
  FileSystem& files_;
  const Args command_;      // with the arch list
  std::string text_;        // that compilers read
  std::string given_text_;  // with other names of files in its code; "": it has no others
  Path file_;
  bool has_common_names_ = false;
  Lines lines_with_other_columns_;       // where PTX names columns
  std::vector<std::string> read_files_;  // by the preprocessor
};

}  // namespace dsbuild
