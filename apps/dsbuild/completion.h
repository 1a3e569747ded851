// What may stand at the cursor of an unfinished command line.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace dsbuild {

struct Candidate {
  std::string word;  // the whole value; of `--ops=al` without "--ops="
  std::string help;
};

struct Completion {
  std::vector<Candidate> words;
  bool folders = false;  // the shell adds its own
  bool files = false;
};

// `line`: from the program's name up to the cursor, quoted as a shell does. Never fails: what cannot be
// known (a broken pack) has no candidates.
Completion complete(const std::string& line, const CommandContext& context);

// One candidate a line, a tab before its help; then ":folders" or ":files".
std::string render_completion(const Completion& completion);

}  // namespace dsbuild
