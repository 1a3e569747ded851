#include "nvcc/source_text.h"

#include "base/build_layout.h"
#include "inputs/depfile.h"
#include "nvcc/list_names.h"
#include "nvcc/positions.h"

namespace dsbuild {

Words SourceText::command() const {
  Words words = unit_.step.preprocess;
  for (std::string& word : words)
    if (word == k_arch_list) word += unit_.arch_list;
  return words;
}

Result<int> SourceText::preprocess(StepTools& tools) {
  tools.wait_to_look();
  Words argv = unit_.expand(command_, unit_.in_scratch(""));
  const std::string depfile = unit_.in_scratch(".d");
  argv.insert(argv.end(), {"-MD", "-MF", depfile, "-MT", "text"});
  DSBUILD_TRY(code, tools.run(argv, {}));
  if (code != 0) return code;
  DSBUILD_CHECK(note_what_was_read(depfile));
  file_ = value_of(argv, "-o");
  DSBUILD_TRY(text, files_.read_file(file_));
  text_ = std::move(text);
  DSBUILD_CHECK(take_common_names());
  if (!has_line_information(unit_.step.commands.front())) return 0;
  text_ = with_files_below(unit_.folder_in_objects, text_);
  DSBUILD_CHECK(files_.write_file(file_, text_));
  return 0;
}

// Debug information has names where nobody looks for them.
Result<void> SourceText::take_common_names() {
  if (unit_.step.keeps_positions || !names_list(text_, unit_.arch_list)) return {};
  auto common = with_list(text_, unit_.arch_list, k_common_list);
  if (!common) return {};
  text_ = std::move(*common);
  has_common_names_ = true;
  return files_.write_file(file_, text_);
}

Result<void> SourceText::take_own_names() {
  text_ = with_list(text_, k_common_list, unit_.arch_list).value_or(text_);
  has_common_names_ = false;
  return files_.write_file(file_, text_);
}

// The archs' list is read where a text names it.
Result<void> SourceText::note_what_was_read(const Path& depfile_of_preprocessor) {
  DSBUILD_TRY(depfile, files_.read_file(depfile_of_preprocessor));
  read_files_ = files_in_depfile(depfile);
  for (const std::string& name : read_files_) {
    const auto text = files_.read_file(name);
    if (!text || text->find("__CUDA_ARCH_LIST__") == std::string::npos) continue;
    read_files_.push_back(unit_.path + k_arch_list_end);
    break;
  }
  return {};
}

}  // namespace dsbuild
