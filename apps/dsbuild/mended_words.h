// What was typed wrong, as it was meant: whole command lines, without the program's name.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

using Words = std::vector<std::string>;

bool holds(const Words& words, const std::string& word);

// Lists that were typed as the shell's words or option by option (`--arch 8.0 9.0`, `--ops one --ops two`),
// each as one word: `--arch 8.0,9.0`. Empty where there is nothing to mend. `commands`: words that are none
// of a list.
Words with_mended_lists(const Words& words, const Words& commands);

// `wrong` replaced, and what stands behind its '=' kept.
Words with_word(const Words& words, const std::string& wrong, const std::string& right);
// Of an option that is given several times, by any of its names, the last alone.
Words with_last_value(const Words& words, const Words& names_of_option);
// An option or word of other tools in ours: "--dry-run" -> "plan". "" for all others.
std::string word_for(const std::string& foreign);

}  // namespace dsbuild
