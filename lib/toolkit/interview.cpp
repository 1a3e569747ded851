#include "toolkit/interview.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/configuration_files.h"
#include "toolkit/stable_answer.h"

namespace dsbuild {
namespace {

constexpr const char* k_between = "\x1e";  // ASCII's record separator

// What the answers depend on besides what is known before they are given.
std::string state_of(const Path& program, const std::vector<std::string>& answers, const FileReader& files) {
  std::string text;
  Paths all = configuration_files(program, answers, files);
  all.merge(folders_of_choice(answers));
  for (const std::string& path : all)
    text += path + " " + identity_text(path, files) + "\n";
  return sha256(text);
}

std::optional<std::vector<std::string>> known_answers(const Interview& asked, const std::string& identity,
                                                      const FileReader& files, const FactStore& facts) {
  const auto known = facts.find("answers of " + asked.name, identity);
  if (!known) return std::nullopt;
  std::vector<std::string> answers;
  for (size_t begin = 0; begin <= known->size();) {
    const size_t end = std::min(known->find(k_between, begin), known->size());
    answers.push_back(known->substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string state = answers.front();
  answers.erase(answers.begin());
  if (answers.size() != asked.questions.size()) return std::nullopt;
  return state == state_of(asked.program, answers, files) ? std::optional(answers) : std::nullopt;
}

std::string text_of_wrapper(const Interview& asked, const std::vector<std::string>& answers,
                            const System& system) {
  std::string text;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Words& argv = asked.questions[i];
    text += sha256(stable_answer(answers[i], asking_folder(system))) + " answer of " + argv.front() + " to " +
            shell_join({argv.begin() + 1, argv.end()}) + "\n";
  }
  return text;
}

}  // namespace

Result<CompilerAnswers> interview(const Interview& questions, const Environment& environment, System& system,
                                  FactStore& facts) {
  const std::string identity = identity_text(questions.program, system.files) + " " +
                               sha256(text_of_variables(system) + questions.depends_on);
  CompilerAnswers said;
  auto known = questions.is_wrapper ? std::nullopt : known_answers(questions, identity, system.files, facts);
  if (known) {
    said.answers = std::move(*known);
  } else {
    DSBUILD_TRY(answers, said_by_all(questions.questions, environment, system));
    said.answers = std::move(answers);
    if (!questions.is_wrapper)
      facts.put("answers of " + questions.name, identity,
                state_of(questions.program, said.answers, system.files) + k_between +
                    join(said.answers, k_between));
  }
  said.configuration = configuration_files(questions.program, said.answers, system.files);
  if (questions.is_wrapper) said.text = text_of_wrapper(questions, said.answers, system);
  return said;
}

}  // namespace dsbuild
