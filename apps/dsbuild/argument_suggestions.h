// Corrects command lines that the user typed wrong. Lines are whole, without the program's name.
#pragma once

#include <string>
#include <vector>

#include "base/args.h"

namespace dsbuild {

bool holds(const Args& words, const std::string& word);

// Joins lists that were typed as several words or several options (`--arch 8.0 9.0`, `--ops one --ops two`)
// to one word: `--arch 8.0,9.0`. Empty if there is nothing to correct. `commands`: words that cannot belong
// to a list.
Args with_mended_lists(const Args& words, const Args& commands);

// Replaces the word `wrong` by `right`, and keeps the text after '='.
Args with_word(const Args& words, const std::string& wrong, const std::string& right);
// Keeps only the last use of an option that is given several times, by any of its names.
Args with_last_value(const Args& words, const Args& names_of_option);
// The word of dsbuild for a word of other tools: "--dry-run" -> "plan". "" for all others.
std::string word_for(const std::string& foreign);

}  // namespace dsbuild
