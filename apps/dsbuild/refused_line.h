// A command line that is not understood: what is wrong with it, and what was meant.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>

#include "argument_suggestions.h"
#include "base/result.h"

namespace dsbuild {

struct Refusal {
  Error error;                    // as it is said where nobody knows what was meant
  std::string near = {};          // the word that was likely meant; "": none is
  std::string introduction = {};  // of the mended line: "Meant"
  Args mended = {};               // the whole line as it was likely meant; empty: nobody knows
};

// Names of commands that users may type.
Args command_names();
// Long ones, then short ones, with their dashes.
Args names_of(const CLI::Option& option);

// The options of the program and of the command that the words name.
class KnownOptions {
 public:
  KnownOptions(const CLI::App& app, const Args& words);
  const CLI::Option* find(const std::string& word) const;  // "--jobs=3", "-j3", "-j"; nullptr: none
  Args names() const;                                      // long ones

 private:
  std::vector<const CLI::Option*> options_;
};

// What a parser would find too late, or not say: an option that is unknown, or has no value.
std::optional<Refusal> find_refused_option(const CLI::App& app, const Args& words);
// Of the words that CLI11 did not know.
Refusal refuse_unknown_word(const CLI::App& app, const Args& words);
// CLI11's phrases in our words.
Refusal refuse_value(const std::string& text, const CLI::App& app, const Args& words);
// A word where an operand may stand: nullopt: it is neither a second command, nor part of a list, nor an
// option without its dashes, nor near one of `known`.
std::optional<Refusal> refuse_operand(const std::string& word, const std::string& command, const Args& known,
                                      const CLI::App& app, const Args& words);

// Why the words are refused; nullopt: they are accepted.
using LineCheck = std::function<std::optional<Refusal>(const Args& words)>;
// What was meant is said only where it would be accepted. Several mistakes in one line are mended together.
// `program`: what stands behind `--`.
Error said(Refusal refusal, const LineCheck& check, const Args& program);

// A password in a URL is shown to nobody who reads a message or waits for a lock.
Args shown_words(Args words);

}  // namespace dsbuild
