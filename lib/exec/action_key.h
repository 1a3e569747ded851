// What an action is before it reads anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/lists.h"
#include "exec/record.h"

namespace dsbuild {

// Of what this program itself adds to the tools' commands, and of what it writes down, facts among it. It is
// in every key: another number makes everything anew, also what other checkouts have in the cache.
inline constexpr const char* k_key_version = "12";

// The words behind `dsbuild action`, as build.ninja has them (lib/kinds/run_action.cpp).
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

// The first output: what the record lies beside.
std::string output_of(const StepWords& words);
// The file that says which tools run; k_no_tools where none do.
std::string tools_file_of(const StepWords& words);

// Behind the output of a whole compile: a source of several ops, whose text may make what another's makes.
inline constexpr const char* k_known_by_text = "text";

// The files that say which tools run ("tools/nvcc.id").
inline constexpr const char* k_no_tools = "-";

}  // namespace dsbuild
