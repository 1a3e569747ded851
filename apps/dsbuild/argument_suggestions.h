// What was typed wrong, as it was meant: whole command lines, without the program's name.
#pragma once

#include <string>
#include <vector>

#include "base/args.h"

namespace dsbuild {

bool holds(const Args& words, const std::string& word);

// Lists that were typed as the shell's words or option by option (`--arch 8.0 9.0`, `--ops one --ops two`),
// each as one word: `--arch 8.0,9.0`. Empty where there is nothing to mend. `commands`: words that are none
// of a list.
Args with_mended_lists(const Args& words, const Args& commands);

// `wrong` replaced, and what stands behind its '=' kept.
Args with_word(const Args& words, const std::string& wrong, const std::string& right);
// Of an option that is given several times, by any of its names, the last alone.
Args with_last_value(const Args& words, const Args& names_of_option);
// An option or word of other tools in ours: "--dry-run" -> "plan". "" for all others.
std::string word_for(const std::string& foreign);

}  // namespace dsbuild
