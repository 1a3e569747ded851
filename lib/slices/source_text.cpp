#include "slices/source_text.h"

#include "base/digest.h"
#include "slices/header_sets.h"
#include "slices/include_record.h"
#include "slices/positions.h"
#include "sys/clock.h"

namespace dsbuild {

SourceText::SourceText(const StepUnit& unit, FileSystem& files, const std::optional<ContentStore>& store)
    : unit_(unit), files_(files), store_(store), begin_ns_(file_clock_now()), command_(command()) {
  if (!store_) return;
  const auto source = files_.read_file(unit_.request.source);
  record_key_ =
      unit_.key_of("includes " + shell_join(unit_.expand(command_, unit_.stem)) + (source ? *source : ""),
                   unit_.step.commands);
}

Words SourceText::command() const {
  Words words = unit_.step.preprocess;
  for (std::string& word : words)
    if (word == k_arch_list) word += unit_.arch_list;
  return words;
}

std::optional<std::string> SourceText::recall() {
  if (!store_) return std::nullopt;
  const auto record = find_include_record(*store_, record_key_, files_);
  if (!record || !write_depfile(record->files)) return std::nullopt;
  return record->result;
}

Result<int> SourceText::preprocess(StepTools& tools) {
  tools.wait_to_look();
  Words argv = unit_.expand(command_, unit_.in_scratch(""));
  const std::string depfile = unit_.in_scratch(".d");
  argv.insert(argv.end(), {"-MD", "-MF", depfile, "-MT", unit_.request.output});
  DSBUILD_TRY(code, tools.run(argv, {}));
  if (code != 0) return code;
  DSBUILD_CHECK(note_what_was_read(depfile));
  DSBUILD_CHECK(write_depfile(read_files_));
  const std::string output = value_of(argv, "-o");
  DSBUILD_TRY(text, files_.read_file(output));
  text_ = std::move(text);
  if (!has_line_information(unit_.step.commands.front())) return 0;
  text_ = with_files_below(unit_.folder_in_objects, text_);
  DSBUILD_CHECK(files_.write_file(output, text_));
  return 0;
}

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

Result<void> SourceText::write_depfile(const std::vector<std::string>& read) const {
  DSBUILD_TRY(named, name_header_sets(read, begin_ns_, files_));
  return files_.write_file(unit_.request.output + ".d", render_depfile(unit_.request.output, named));
}

void SourceText::remember(const std::string& key) const {
  if (store_)
    add_include_record(*store_, record_key_,
                       render_include_record({key, read_files_}, command_, begin_ns_, files_));
}

}  // namespace dsbuild
