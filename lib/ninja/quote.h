// Quotes words for Ninja and the shell; no other code does. Source: Ninja manual, "Lexical syntax"
// ($-escapes) and "variables in/out"; POSIX sh quoting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// "" if a command in a file for Ninja >= 1.11 can contain the word, else the reason ("a line break"). A path
// in a build line cannot contain '|' either, because Ninja has no escape for it.
std::string ninja_refusal(std::string_view word);
std::string ninja_path_refusal(std::string_view path);
// A path in a build line: `$`, blank and ':' escaped.
std::string ninja_path(std::string_view path);
std::string ninja_paths(const std::vector<std::string>& paths);  // each after a blank
// A word of a command, for the value of a variable: quoted for sh, then `$` escaped for Ninja.
std::string ninja_word(std::string_view word);
std::string ninja_words(const std::vector<std::string>& words);
// The words that a command starts with: there a word with '=' needs quotes, or sh would set a variable.
std::string ninja_program(const std::vector<std::string>& argv);

}  // namespace dsbuild
