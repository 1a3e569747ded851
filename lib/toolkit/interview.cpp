#include "toolkit/interview.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/configuration_files.h"
#include "toolkit/stable_answer.h"

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
  for (const Args& question : asked.questions)
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

std::string text_of_wrapper(const Interview& asked, const std::vector<std::string>& answers,
                            const System& system) {
  std::string text;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Args& argv = asked.questions[i];
    text += sha256(stable_answer(answers[i], asking_folder(system))) + " answer of " + argv.front() + " to " +
            shell_join({argv.begin() + 1, argv.end()}) + "\n";
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
