// What an action is before it reads anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/lists.h"
#include "exec/record.h"

namespace dsbuild {

// The version of what this program adds to the tools' commands, and of the files that it writes, facts among
// them. It is in every key: with a new number every action runs again, and no older result in the cache
// counts.
inline constexpr const char* k_key_version = "12";

// The words after `dsbuild action`, as build.ninja has them (lib/kinds/run_action.cpp).
using StepWords = std::vector<std::string>;

// A planned file's text, by its path in the build folder: of the plan, or of the disk.
using ReadPlanned = std::function<std::optional<std::string>(const std::string& path)>;

struct KeyInput {
  const StepWords& words;
  std::string build_dir;  // absolute: debug information names it
  ReadPlanned read;
};

// The parts: "version", the command's words, "tools", "objects" of a link, "build_folder" where debug
// information names it. Long values are names of lists.
inline constexpr const char* k_command_part = "command";

// The same for the driver, who asks what is due, and for the step, who does it. Long values become lists.
Key action_key(const KeyInput& input, Lists& lists);

// The first output; the record lies next to it.
std::string output_of(const StepWords& words);
// The file that says which tools run; k_no_tools where none do.
std::string tools_file_of(const StepWords& words);

// Follows the output of a whole compile whose source several ops compile: the cache knows the result by the
// preprocessed text too.
inline constexpr const char* k_known_by_text = "text";

// The files that say which tools run ("tools/nvcc.id").
inline constexpr const char* k_no_tools = "-";

}  // namespace dsbuild
