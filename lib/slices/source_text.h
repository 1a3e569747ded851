// What the preprocessor makes of a source for one part.
#pragma once

#include "slices/step_tools.h"
#include "store/content_store.h"

namespace dsbuild {

class SourceText {
 public:
  // `store` keeps what was read: it may know what would come out.
  SourceText(const StepUnit& unit, FileSystem& files, const std::optional<ContentStore>& store);

  // The key of the text if that is known without the preprocessor; writes the depfile then.
  std::optional<std::string> recall();
  // Runs the preprocessor and writes the depfile. The value is its exit code.
  Result<int> preprocess(StepTools& tools);
  // Of the text that preprocess() made.
  std::string key() const { return unit_.key_of(unit_.text_for_key(text_), unit_.step.commands); }
  void remember(const std::string& key) const;

 private:
  Words command() const;
  Result<void> note_what_was_read(const Path& depfile_of_preprocessor);
  Result<void> write_depfile(const std::vector<std::string>& read) const;

  const StepUnit& unit_;
  FileSystem& files_;
  const std::optional<ContentStore>& store_;
  const int64_t begin_ns_;
  const Words command_;     // with the arch list
  std::string record_key_;  // of all that is known before the preprocessor runs
  std::string text_;
  std::vector<std::string> read_files_;  // by the preprocessor
};

}  // namespace dsbuild
