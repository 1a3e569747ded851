// argv -> text. The only place where a word is quoted for Ninja or the shell.
// Source: Ninja manual, "Lexical syntax" ($-escapes) and "variables in/out"; POSIX sh quoting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dsbuild {

// "" if a path or word can be carried by every Ninja >= 1.11, else what is in the way ("a newline", "'|'").
std::string ninja_refusal(std::string_view word);
// A path in a build line: `$`, blank and ':' escaped.
std::string ninja_path(std::string_view path);
// A word of a command, for the value of a variable: quoted for sh, then `$` escaped for Ninja.
std::string ninja_word(std::string_view word);
std::string ninja_words(const std::vector<std::string>& words);

}  // namespace dsbuild
