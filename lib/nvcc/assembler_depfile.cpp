#include "nvcc/assembler_depfile.h"

#include <algorithm>

#include "base/text.h"
#include "inputs/depfile.h"

namespace dsbuild {
namespace {

bool can_be_handed_on(const std::string& path) {
  return std::all_of(path.begin(), path.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

Args words_for_assembler(const Args& command, const std::string& depfile) {
  static const Args may_be_lto = {"-flto", "@", "-specs", "-optf", "--options-file"};
  if (has_option(command, may_be_lto) || !can_be_handed_on(depfile)) return {};
  const Args words = {"-Xassembler", "--MD", "-Xassembler", depfile};
  const bool is_nvcc = Path(command.front()).filename() == "nvcc";
  return is_nvcc ? Args{"-Xcompiler=" + join(words, ",")} : words;
}

void add_files_of_assembler(const Path& depfile, std::string_view object, FilesRead& read,
                            FileSystem& files) {
  const auto text = files.read_file(depfile);
  read.by_silent_assembler = !text || is_assembled_in_link(object);
  if (!text) return;
  for (std::string& file : files_in_assembler_depfile(
           *text, [&](const std::string& name) { return files.kind(name) == FileKind::file; }))
    read.files.push_back(std::move(file));
  (void)files.remove_all(depfile);
}

bool is_assembled_in_link(std::string_view object) {
  return object.starts_with("BC\xC0\xDE") || object.find(".gnu.lto_") != std::string_view::npos;
}

}  // namespace dsbuild
