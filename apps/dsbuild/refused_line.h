// Explains a command line that dsbuild does not accept: what is wrong, and what the user probably meant.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>

#include "argument_suggestions.h"
#include "base/result.h"

namespace dsbuild {

struct Refusal {
  Error error;                    // the error without a suggestion
  std::string near = {};          // the word that the user probably meant; "": unknown
  std::string introduction = {};  // the text before the corrected line: "Meant"
  Args mended = {};               // the whole corrected line; empty: unknown
};

// The names of all commands that are not hidden.
Args command_names();
// Long names, then short ones, with their dashes.
Args names_of(const CLI::Option& option);

// The options of the program and of the command that the words name.
class KnownOptions {
 public:
  KnownOptions(const CLI::App& app, const Args& words);
  const CLI::Option* find(const std::string& word) const;  // "--jobs=3", "-j3", "-j"; nullptr: none
  Args names() const;                                      // only long names

 private:
  std::vector<const CLI::Option*> options_;
};

// Finds an option that is unknown or has no value. CLI11 reports such options late or not clearly.
std::optional<Refusal> find_refused_option(const CLI::App& app, const Args& words);
// The refusal for words that CLI11 did not know.
Refusal refuse_unknown_word(const CLI::App& app, const Args& words);
// The refusal for a value; replaces CLI11's wording in `text`.
Refusal refuse_value(const std::string& text, const CLI::App& app, const Args& words);
// The refusal for a word in the place of an operand. nullopt: it is no second command, no part of a list, no
// option without dashes, and not similar to one of `known`.
std::optional<Refusal> refuse_operand(const std::string& word, const std::string& command, const Args& known,
                                      const CLI::App& app, const Args& words);

// Why the words are refused; nullopt: they are accepted.
using LineCheck = std::function<std::optional<Refusal>(const Args& words)>;
// The error with its suggestion, which is left out if the parser would not accept it. Corrects several
// mistakes in one line together. `program`: the words after `--`.
Error said(Refusal refusal, const LineCheck& check, const Args& program);

// The words without passwords in URLs, for messages and for processes that wait for a lock.
Args shown_words(Args words);

}  // namespace dsbuild
