// The key of an action: a digest of its command and tools, before it reads any input.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/lists.h"
#include "exec/record.h"

namespace dsbuild {

// The key version, a part of every key. It stands for what this program adds to the tools' commands, and for
// the form of the files that it writes, facts included. With a new number every action runs again, and no
// older result in the cache counts.
inline constexpr const char* k_key_version = "12";

// The words after `dsbuild action`, as build.ninja has them (lib/kinds/run_action.cpp).
using StepWords = std::vector<std::string>;

// Returns the text of a planned file, from the plan or from the disk. `path`: in the build folder.
using ReadPlanned = std::function<std::optional<std::string>(const std::string& path)>;

struct KeyInput {
  const StepWords& words;
  std::string build_dir;  // absolute, because debug information contains it
  ReadPlanned read;
};

// The parts of a key: "version", "command", "tools", "objects" (for a link), and "build_folder" if debug
// information contains it. A long value is replaced by the name of a list (lists.h).
inline constexpr const char* k_command_part = "command";

// Makes the key of an action. The driver uses it to find stale actions, and the step to run one. Stores long
// values in `lists`.
Key action_key(const KeyInput& input, Lists& lists);

// The first output; the record lies next to it.
std::string output_of(const StepWords& words);
// The file that lists the action's tools ("tools/nvcc.id"), or k_no_tools.
std::string tools_file_of(const StepWords& words);

// The word after the output of a whole compile whose source several ops compile. The cache also has such a
// result under its preprocessed text.
inline constexpr const char* k_known_by_text = "text";

// In place of that file, for an action that runs no tools.
inline constexpr const char* k_no_tools = "-";

}  // namespace dsbuild
