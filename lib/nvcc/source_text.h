// What the preprocessor makes of a source for one part.
#pragma once

#include "base/digest.h"
#include "nvcc/step_tools.h"

namespace dsbuild {

class SourceText {
 public:
  SourceText(const StepUnit& unit, FileSystem& files) : unit_(unit), files_(files), command_(command()) {}

  // Runs the preprocessor. The value is its exit code.
  Result<int> preprocess(StepTools& tools);
  // Of the text that preprocess() made.
  std::string key() const { return unit_.key_of(unit_.text_for_key(text_), unit_.step.commands); }
  // The same with all lines: what tools say of the text names them.
  std::string key_of_lines() const { return sha256(text_); }
  FilesRead files_read() const { return {read_files_, unit_.expand(command_, unit_.in_scratch(""))}; }

 private:
  Words command() const;
  Result<void> note_what_was_read(const Path& depfile_of_preprocessor);

  const StepUnit& unit_;
  FileSystem& files_;
  const Words command_;  // with the arch list
  std::string text_;
  std::vector<std::string> read_files_;  // by the preprocessor
};

}  // namespace dsbuild
