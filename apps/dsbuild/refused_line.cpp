#include "refused_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command.h"

namespace dsbuild {
namespace {

constexpr int k_most_mistakes = 4;

std::string name_part(const std::string& word) {
  return word.substr(0, word.find('='));
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_min() > 0;
}

std::string unknown_word_text(const std::string& word) {
  return "unknown word '" + printable(shown_words({word}).front()) + "'";
}

Refusal refuse(const std::string& what, const std::string& fix = "") {
  return {make_error(Exit::usage, "bad_option", "command line", what,
                     fix.empty() ? "`dsbuild --help` lists commands and options." : fix)};
}

// The first of the words that is a command; "build" is what a line without one means.
std::string command_in(const Args& words) {
  const auto is_command = [](const std::string& word) {
    return std::ranges::any_of(commands(), [&](const CommandRow& row) { return row.name == word; });
  };
  const auto found = std::ranges::find_if(words, is_command);
  return found == words.end() ? "build" : *found;
}

Args without_word(Args words, const std::string& word) {
  if (const auto found = std::ranges::find(words, word); found != words.end()) words.erase(found);
  return words;
}

Refusal refuse_unknown_option(const std::string& word, const KnownOptions& known, const Args& words) {
  const std::string name = name_part(word);
  Refusal refusal = refuse("unknown option '" + printable(name) + "'");
  const std::string foreign = word_for(name);
  if (!foreign.empty() &&
      !foreign.starts_with("-")) {  // a command, which takes the place of what stands there
    refusal.introduction = "That is a command here";
    const std::string command = command_in(words);
    refusal.mended = with_word(holds(words, command) ? without_word(words, command) : words, word, foreign);
    return refusal;
  }
  refusal.introduction = foreign.empty() ? "Meant" : "Its name here";
  refusal.near = foreign.empty() ? nearest(name, known.names()) : "";
  const std::string right = foreign.empty() ? refusal.near : foreign;
  if (!right.empty()) refusal.mended = with_word(words, word, right);
  return refusal;
}

// "8.6,9.0" of --gpu: as the first example of a command has it.
std::string example_of(const CLI::Option& option) {
  for (const CommandRow& row : commands())
    for (const Example& example : row.examples) {
      const Args words = shell_split(example.line);
      for (size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i].starts_with("-") && option.check_name(words[i])) return shell_quote(words[i + 1]);
    }
  return "";
}

Refusal refuse_missing_value(const std::string& word, const CLI::Option& option) {
  const std::string example = example_of(option), type = option.get_type_name();
  return refuse(word + ": needs its value, " + type,
                type + ": " + option.get_description() +
                    (example.empty() ? "" : "; as in " + word + " " + example) + ".");
}

Refusal refuse_two_commands(const std::string& chosen, const std::string& other, const Args& words) {
  Refusal refusal = refuse("two commands, '" + chosen + "' and '" + other + "'");
  refusal.introduction = "One at a time";
  refusal.mended = without_word(words, chosen);
  return refusal;
}

std::optional<Refusal> refuse_list(const std::string& what, const Args& words) {
  Refusal refusal = refuse(what);
  refusal.introduction = "A list is one word";
  refusal.mended = with_mended_lists(words, command_names());
  return refusal.mended.empty() ? std::nullopt : std::optional(refusal);
}

// "ops=all"
std::optional<Refusal> refuse_without_dashes(const std::string& word, const CLI::App& app,
                                             const Args& words) {
  const std::string name = "--" + name_part(word);
  const CLI::Option* option = KnownOptions(app, words).find(name);
  // A flag's name alone may be an op's.
  if (!option || (!takes_value(*option) && !holds(words, command_in(words)))) return std::nullopt;
  Refusal refusal = refuse(unknown_word_text(word));
  refusal.near = name;
  refusal.introduction = "Meant";
  refusal.mended = with_word(words, word, name);
  return refusal;
}

Refusal refuse_near(const std::string& word, const std::string& near, const Args& words) {
  Refusal refusal = refuse(unknown_word_text(word));
  refusal.near = near;
  refusal.introduction = "Meant";
  if (!near.empty()) refusal.mended = with_word(words, word, near);
  return refusal;
}

}  // namespace

Args command_names() {
  Args names;
  for (const CommandRow& row : commands())
    if (!row.hidden) names.emplace_back(row.name);
  return names;
}

Args names_of(const CLI::Option& option) {
  Args names;
  for (const std::string& name : option.get_lnames())
    names.push_back("--" + name);
  for (const std::string& name : option.get_snames())
    names.push_back("-" + name);
  return names;
}

KnownOptions::KnownOptions(const CLI::App& app, const Args& words) {
  // The command's own come first: `new` has a --backend of its own.
  for (const CLI::App* part : {static_cast<const CLI::App*>(app.get_subcommand(command_in(words))), &app})
    for (const CLI::Option* option : part->get_options())
      if (!option->get_positional()) options_.push_back(option);
}

const CLI::Option* KnownOptions::find(const std::string& word) const {
  const bool is_short = !word.starts_with("--");
  const std::string name = is_short ? word.substr(0, 2) : name_part(word);
  const auto found =
      std::ranges::find_if(options_, [&](const CLI::Option* option) { return option->check_name(name); });
  return found == options_.end() ? nullptr : *found;
}

Args KnownOptions::names() const {
  Args names;
  for (const CLI::Option* option : options_)
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::optional<Refusal> find_refused_option(const CLI::App& app, const Args& words) {
  const KnownOptions known(app, words);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (!word.starts_with("-") || word == "-") continue;
    const CLI::Option* option = known.find(word);
    if (!option) return refuse_unknown_option(word, known, words);
    const bool has_it = word.starts_with("--") ? word.find('=') != word.npos : word.size() > 2;
    if (!takes_value(*option) || has_it) continue;
    const bool is_next_an_option =
        i + 1 < words.size() && words[i + 1].starts_with("--") && known.find(words[i + 1]);
    if (i + 1 == words.size() || is_next_an_option) return refuse_missing_value(word, *option);
    ++i;
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_operand(const std::string& word, const std::string& command, const Args& known,
                                      const CLI::App& app, const Args& words) {
  const Args names = command_names();
  if (holds(names, word)) return refuse_two_commands(command, word, words);
  if (auto refusal = refuse_list(unknown_word_text(word), words)) return refusal;
  if (auto refusal = refuse_without_dashes(word, app, words)) return refusal;
  Args candidates = known;
  if (!holds(words, command)) candidates.insert(candidates.begin(), names.begin(), names.end());
  const std::string foreign = holds(words, command) ? "" : word_for(word);
  const std::string near = foreign.empty() ? nearest(word, candidates) : foreign;
  return near.empty() ? std::nullopt : std::optional(refuse_near(word, near, words));
}

Refusal refuse_unknown_word(const CLI::App& app, const Args& words) {
  const Args unknown = app.remaining(true);
  const auto option =
      std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with("-"); });
  if (option != unknown.end()) return refuse_unknown_option(*option, KnownOptions(app, words), words);
  const std::string& word = unknown.front();
  auto refusal = refuse_operand(word, command_in(words), {}, app, words);
  return refusal ? *refusal : refuse(unknown_word_text(word));
}

// "--out: At Most 1 required but received 2".
Refusal refuse_value(const std::string& text, const CLI::App& app, const Args& words) {
  const std::string twice =
      replace_all(text, "At Most 1 required but received", "takes one value, was given");
  if (twice == text) return refuse(text);
  if (const auto refusal = refuse_list(twice, words)) return *refusal;
  Refusal refusal = refuse(twice);
  const CLI::Option* option = KnownOptions(app, words).find(text.substr(0, text.find(':')));
  if (!option) return refusal;  // an operand
  refusal.introduction = "Keep one, as in";
  refusal.mended = with_last_value(words, names_of(*option));
  return refusal;
}

Error said(Refusal refusal, const LineCheck& check, const Args& program) {
  Args mended = refusal.mended;
  for (int i = 0; i < k_most_mistakes && !mended.empty(); ++i) {
    const auto again = check(mended);
    if (!again) break;
    mended = again->mended;
  }
  if (mended.empty() || check(mended)) return refusal.error;
  if (!refusal.near.empty()) refusal.error.what += " (did you mean '" + refusal.near + "'?)";
  if (!program.empty()) mended.push_back("--");
  mended.insert(mended.end(), program.begin(), program.end());
  refusal.error.fix = refusal.introduction + ": dsbuild " + shell_join(shown_words(mended));
  return refusal.error;
}

Args shown_words(Args words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_url = words[i].find("://") != std::string::npos || words[i].starts_with("--remote=") ||
                        (i > 0 && words[i - 1] == "--remote");
    if (is_url) words[i] = without_password(words[i]);
  }
  return words;
}

}  // namespace dsbuild
