#include "nvcc/source_text.h"

#include <algorithm>
#include <set>

#include "base/build_layout.h"
#include "inputs/depfile.h"
#include "inputs/torch_headers.h"
#include "nvcc/arch_tagged_symbols.h"
#include "nvcc/code_lines.h"
#include "nvcc/line_marker.h"
#include "nvcc/line_normalization.h"

namespace dsbuild {

namespace {

// "<built-in>" and folders ("/p/build//") are no files.
bool names_file(std::string_view name) {
  return !name.empty() && !name.starts_with('<') && !name.ends_with('/');
}

std::string headers_in(std::string_view text) {
  std::string headers;
  std::set<std::string_view> seen;
  CodeLines lines(text);
  while (const auto line = lines.next()) {
    const auto marker = read_line_marker(*line, {});
    if (!marker || marker->file.size() < 2) continue;
    const std::string_view name = marker->file.substr(1, marker->file.size() - 2);
    if (!names_file(name) || !seen.insert(name).second) continue;
    headers += (marker->kind().empty() ? "u" : "s") + std::string(name) + "\n";
  }
  return headers;
}

}  // namespace

Args SourceText::command() const {
  Args words = unit_.step.preprocess;
  for (std::string& word : words)
    if (word == k_arch_list)
      word += unit_.arch_list;
    else if (word == k_any_source && !unit_.step.place.empty())
      word = unit_.step.place.source;
  return words;
}

Result<int> SourceText::preprocess(SliceTools& tools) {
  const PathMap& place = unit_.step.place;
  Args argv = unit_.expand(command_, unit_.in_scratch(""));
  const std::string depfile = unit_.in_scratch(".d");
  argv.insert(argv.end(), {"-MD", "-MF", depfile, "-MT", "text"});
  DSBUILD_TRY(code, tools.run(argv, place.folder));
  if (code != 0) return code;
  DSBUILD_CHECK(note_what_was_read(depfile));
  file_ = value_of(argv, "-o");
  DSBUILD_TRY(text, files_.read_file(file_));
  text_ = std::move(text);
  if (!place.empty()) DSBUILD_CHECK(take_own_place());
  DSBUILD_CHECK(take_common_names());
  if (!has_line_information(unit_.step.commands.front())) return 0;
  text_ = with_files_below(unit_.folder_in_objects, text_);
  DSBUILD_CHECK(files_.write_file(file_, text_));
  return 0;
}

Result<void> SourceText::take_own_place() {
  const std::string part = unit_.path + "." + unit_.step.part;
  DSBUILD_CHECK(files_.write_file(part + k_headers_end, headers_in(text_)));
  // What is said of lines names files as nvcc's does: as they were given.
  if (has_line_information(unit_.step.commands.front())) return {};
  const PathMap& place = unit_.step.place;
  std::string own = place.with_own_names(text_);
  if (place.is_temporary) given_text_ = std::move(text_);
  text_ = std::move(own);
  if (text_.find(place.root) == std::string::npos)
    DSBUILD_CHECK(files_.write_file(part + k_free_of_root_end, ""));
  return files_.write_file(file_, text_);
}

// Debug information has names where nobody looks for them.
Result<void> SourceText::take_common_names() {
  if (unit_.step.positions == KeptPositions::any || !names_list(text_, unit_.arch_list)) return {};
  const bool reads_columns = may_read_columns(text_);
  if (reads_columns || unit_.step.positions == KeptPositions::device_lines)
    lines_with_other_columns_ = lines_with_code_behind_names(text_, unit_.arch_list);
  if (reads_columns && !lines_with_other_columns_.empty()) return {};
  auto common = with_list(text_, unit_.arch_list, k_common_list);
  if (!common) return {};
  text_ = std::move(*common);
  has_common_names_ = true;
  return files_.write_file(file_, text_);
}

Result<void> SourceText::take_given_text() {
  text_ = std::move(given_text_);
  given_text_.clear();
  return files_.remove_all(unit_.path + "." + unit_.step.part + k_free_of_root_end);
}

Result<void> SourceText::take_own_names() {
  if (!given_text_.empty()) DSBUILD_CHECK(take_given_text());
  text_ = with_list(text_, k_common_list, unit_.arch_list).value_or(text_);
  has_common_names_ = false;
  lines_with_other_columns_.clear();
  return files_.write_file(file_, text_);
}

bool SourceText::has_columns_of_names(std::string_view ptx) const {
  return has_code_of(ptx, lines_with_other_columns_);
}

SeenText SourceText::seen() const {
  return {text_.size(), std::ranges::any_of(read_files_, is_torchs_header)};
}

FilesRead SourceText::files_read() const {
  Args command = unit_.expand(command_, unit_.in_scratch(""));
  const PathMap& place = unit_.step.place;
  return {read_files_, place.empty() ? std::move(command) : place.own_words(std::move(command))};
}

// The archs' list is read where a text names it.
Result<void> SourceText::note_what_was_read(const Path& depfile_of_preprocessor) {
  DSBUILD_TRY(depfile, files_.read_file(depfile_of_preprocessor));
  read_files_ = files_in_depfile(depfile);
  if (!unit_.step.place.empty()) {
    for (std::string& name : read_files_)
      name = unit_.step.place.own_name(name);
  }
  for (const std::string& name : read_files_) {
    const auto text = files_.read_file(name);
    if (!text || text->find("__CUDA_ARCH_LIST__") == std::string::npos) continue;
    read_files_.push_back(unit_.path + k_arch_list_end);
    break;
  }
  return {};
}

}  // namespace dsbuild
