#include "nvcc/line_normalization.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "nvcc/code_lines.h"
#include "nvcc/line_marker.h"

namespace dsbuild {
namespace {

class Filter {
 public:
  std::string run(std::string_view text) {
    kept_.reserve(text.size());
    CodeLines lines(text);
    while (const auto line = lines.next())
      if (const auto marker = read_line_marker(*line, place_))
        move_to(*marker);
      else if (line->find_first_not_of(" \t\n") != std::string_view::npos)
        keep(*line);
    return std::move(kept_);
  }

 private:
  void move_to(const LineMarker& marker) {
    place_ = marker;
    if (marker.changes_file()) keep_place();
  }

  void keep_place() {
    kept_ += "# " + std::string(place_.file) + std::string(place_.flags) + "\n";
    kept_place_ = place_;
  }

  void keep(std::string_view line) {
    if (place_.file != kept_place_.file || place_.kind() != kept_place_.kind()) keep_place();
    kept_ += line;
  }

  std::string kept_;
  LineMarker place_, kept_place_;  // of the text that is read; of what is kept
};

bool names_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

// Who calls a function that has one of them as a default argument reads its own line, and no tokens tell
// where such calls are: they may be conversions, constructors of templates, defaults themselves.
bool may_read_positions(std::string_view text) {
  return names_one_of(text, {"__builtin_LINE", "__builtin_COLUMN", "source_location"});
}

bool is_gcc(const NvccCommands& commands) {
  const auto has = [&](std::string_view beginning) {
    return std::any_of(commands.front_end.begin(), commands.front_end.end(),
                       [&](const std::string& word) { return word.starts_with(beginning); });
  };
  return has("--gnu_version") && !has("--clang");
}

// Options that begin with -f are many, and more with each compiler: those of which it is known.
bool is_without_positions(const std::string& word) {
  static const std::vector<std::string> beginnings = {"-fPIC",
                                                      "-fpic",
                                                      "-fPIE",
                                                      "-fpie",
                                                      "-fno-",
                                                      "-fvisibility",
                                                      "-frandom-seed=",
                                                      "-fopenmp",
                                                      "-ffast-math",
                                                      "-funroll",
                                                      "-finline",
                                                      "-fomit-frame-pointer",
                                                      "-fstrict-",
                                                      "-fwrapv",
                                                      "-ffp-contract",
                                                      "-fpermissive",
                                                      "-fexceptions",
                                                      "-frtti",
                                                      "-fdiagnostics-",
                                                      "-fmessage-length",
                                                      "-fmax-errors",
                                                      "-ftemplate-",
                                                      "-fconstexpr-",
                                                      "-fconcepts",
                                                      "-fcoroutines",
                                                      "-fabi-version",
                                                      "-ffunction-sections",
                                                      "-fdata-sections",
                                                      "-fstack-protector",
                                                      "-fcf-protection",
                                                      "-ffile-prefix-map",
                                                      "-fmacro-prefix-map"};
  return starts_with_one_of(word, beginnings);
}

}  // namespace

bool may_keep_positions(const std::string& word) {
  static const std::vector<std::string> beginnings = {"-f",          "-g",           "--coverage",
                                                      "-save-temps", "--save-temps", "-Wa,"};
  return !is_without_positions(word) && starts_with_one_of(word, beginnings);
}

std::string without_positions(std::string_view text) {
  return may_read_positions(text) ? std::string(text) : Filter().run(text);
}

std::string with_files_below(const std::string& root, std::string_view text) {
  std::string moved;
  moved.reserve(text.size());
  CodeLines lines(text);
  while (const auto line = lines.next()) {
    const auto marker = read_line_marker(*line, {});
    const bool is_relative =
        marker && marker->file.size() > 1 && marker->file[1] != '/' && marker->file[1] != '<';
    if (!is_relative) {
      moved += *line;
      continue;
    }
    const size_t name = static_cast<size_t>(marker->file.data() - line->data()) + 1;
    moved.append(line->substr(0, name)).append(root).append("/").append(line->substr(name));
  }
  return moved;
}

// std::source_location::current() has __builtin_source_location() as a default argument.
bool may_read_columns(std::string_view text) {
  return names_one_of(text, {"__builtin_COLUMN", "__builtin_source_location"});
}

KeptPositions kept_positions(const NvccCommands& commands) {
  if (!is_gcc(commands) || std::ranges::any_of(commands.host_compile, may_keep_positions))
    return KeptPositions::any;
  const bool has_lines =
      std::ranges::any_of(commands.devices, has_line_information, &DeviceCommands::compile);
  return has_lines ? KeptPositions::device_lines : KeptPositions::none;
}

}  // namespace dsbuild
