#include "toolkit/interview.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/configuration_files.h"

namespace dsbuild {
namespace {

constexpr const char* k_between = "\x1e";  // ASCII's record separator

std::vector<std::string> answers_in(const std::string& fact) {
  std::vector<std::string> answers;
  for (size_t begin = 0; begin <= fact.size();) {
    const size_t end = std::min(fact.find(k_between, begin), fact.size());
    answers.push_back(fact.substr(begin, end - begin));
    begin = end + 1;
  }
  return answers;
}

// What the answers depend on besides what is known before they are given.
FactStore::NamedFiles files_of_answers(const Path& program, const FileReader& files) {
  return [&](const std::string& fact) {
    const std::vector<std::string> answers = answers_in(fact);
    Paths all = configuration_files(program, answers, files);
    all.merge(folders_of_choice(answers));
    return std::vector<Path>(all.begin(), all.end());
  };
}

FactBasis basis_of_interview(const Interview& asked, const System& system) {
  FactBasis basis = asked.basis;
  std::string text = basis.text + "\n" + text_of_variables(system);
  for (const Words& question : asked.questions)
    text += shell_join(question) + "\n";
  basis.text = sha256(text);
  return basis;
}

Result<std::vector<std::string>> ask_all(const Interview& asked, const FactBasis& basis,
                                         const Environment& environment, System& system, FactStore& facts) {
  DSBUILD_TRY(answers, said_by_all(asked.questions, environment, system));
  FactBasis known_by = basis;
  known_by.is_of_machine = basis.is_of_machine || is_of_clang(answers);
  if (!asked.is_wrapper)
    facts.put("answers of " + asked.name, known_by, files_of_answers(asked.program, system.files),
              join(answers, k_between));
  return answers;
}

bool is_hexadecimal(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

size_t count_while(const std::string& text, size_t at, size_t most, bool (*holds)(char)) {
  size_t count = 0;
  while (count < most && at + count < text.size() && holds(text[at + count]))
    ++count;
  return count;
}

// A compiler's random names: gcc's /tmp/ccAb12Cd.s, nvcc's /tmp/tmpxft_00002321_00000000-5.ii, clang's
// /tmp/null-a1b2c3.o.
std::string without_random_names(std::string text) {
  const auto is_letter_or_digit = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find("/cc"); at != std::string::npos; at = text.find("/cc", at + 1))
    if (count_while(text, at + 3, 7, is_letter_or_digit) == 6) text.replace(at + 3, 6, "?");
  for (size_t at = text.find("tmpxft_"); at != std::string::npos; at = text.find("tmpxft_", at + 1))
    text.erase(at + 7, count_while(text, at + 7, 8, is_hexadecimal));
  for (size_t at = text.find("/tmp/"); at != std::string::npos; at = text.find("/tmp/", at + 1)) {
    const size_t end = std::min(text.find_first_of(" \"'\n", at), text.size()), dash = text.rfind('-', end);
    if (dash != std::string::npos && dash > at && count_while(text, dash + 1, 6, is_hexadecimal) == 6)
      text.replace(dash + 1, 6, "?");
  }
  return text;
}

// Where they are asked is no part of what they are, for that is another folder before the build folder is
// there. What lies in it is.
std::string without_folder(std::string text, const Path& folder) {
  constexpr std::string_view k_ends = " \t\n\"':";
  const std::string name = folder.string();
  if (!folder.has_relative_path()) return text;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (at + name.size() == text.size() || k_ends.find(text[at + name.size()]) != std::string_view::npos)
      text.replace(at, name.size(), ".");
  return text;
}

std::string text_of_wrapper(const Interview& asked, const std::vector<std::string>& answers,
                            const System& system) {
  std::string text;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Words& argv = asked.questions[i];
    text += sha256(without_folder(without_random_names(answers[i]), asking_folder(system))) + " answer of " +
            argv.front() + " to " + shell_join({argv.begin() + 1, argv.end()}) + "\n";
  }
  return text;
}

}  // namespace

Result<CompilerAnswers> interview(const Interview& questions, const Environment& environment, System& system,
                                  FactStore& facts) {
  const FactBasis basis = basis_of_interview(questions, system);
  const auto named = files_of_answers(questions.program, system.files);
  const auto known =
      questions.is_wrapper ? std::nullopt : facts.find("answers of " + questions.name, basis, named);
  CompilerAnswers said;
  if (known) {
    said.answers = answers_in(*known);
  } else {
    DSBUILD_TRY(answers, ask_all(questions, basis, environment, system, facts));
    said.answers = std::move(answers);
  }
  said.configuration = configuration_files(questions.program, said.answers, system.files);
  if (questions.is_wrapper) said.text = text_of_wrapper(questions, said.answers, system);
  return said;
}

}  // namespace dsbuild
