// Completes an unfinished command line: the words that may stand at the cursor.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace dsbuild {

struct Candidate {
  std::string word;  // the whole value, for `--ops=al` without "--ops="
  std::string help;
};

struct Completion {
  std::vector<Candidate> words;
  bool folders = false;  // the shell adds folders
  bool files = false;
};

// `line`: from the program's name up to the cursor, quoted for a shell. Never fails: with a broken pack, for
// example, there are no candidates.
Completion complete(const std::string& line, const CommandContext& context);

// One line for each candidate (word, tab, help); then ":folders" or ":files".
std::string render_completion(const Completion& completion);

}  // namespace dsbuild
