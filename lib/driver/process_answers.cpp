#include "driver/process_answers.h"

#include <algorithm>
#include <future>

#include "base/args.h"
#include "base/digest.h"
#include "base/text.h"
#include "toolkit/stable_answer.h"
#include "toolkit/toolkit.h"

namespace dsbuild {
namespace {

constexpr size_t k_lines_of_question = 3;  // where and how, the command, the environment

// A line: a tab after each word, and none in it.
std::string line_of(const Args& words) {
  std::string line;
  for (const std::string& word : words) {
    for (const char c : word)
      line += c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
    line += '\t';
  }
  return line + "\n";
}

Args words_of(std::string_view line) {
  Args words;
  std::string word;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      words.push_back(std::move(word));
      word.clear();
      continue;
    }
    const bool is_escape = line[i] == '\\' && i + 1 < line.size();
    const char c = is_escape ? line[++i] : line[i];
    word += !is_escape ? c : c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return words;
}

Path asking_folder_of(const System& system, const Path& folder) {
  return asking_folder({system.files, system.processes, {}, {}, {{}, system.files.absolute(folder)}});
}

Args variables_in(const Environment& environment, const Environment& of_caller) {
  Args words;
  for (const auto& [name, value] : environment) {
    const auto same = of_caller.find(name);
    words.push_back(same != of_caller.end() && same->second == value ? name : name + "=" + value);
  }
  return words;
}

Environment environment_of(const Args& variables, const Environment& of_caller) {
  Environment environment;
  for (const std::string& word : variables) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos)
      environment[word.substr(0, equals)] = word.substr(equals + 1);
    else if (const auto same = of_caller.find(word); same != of_caller.end())
      environment.insert(*same);
  }
  return environment;
}

std::string question_of(const Command& command, const System& system, const Path& asking_folder) {
  const bool is_asked_there = command.cwd == asking_folder;
  return line_of({command.is_alone ? "alone" : "any", std::to_string(command.timeout.count()),
                  is_asked_there ? "build folder" : "folder", is_asked_there ? "" : command.cwd.string()}) +
         line_of(command.argv) + line_of(variables_in(command.env, system.environment));
}

std::optional<Command> command_of(const std::string& question, const System& system,
                                  const Path& asking_folder) {
  const Args lines = split_lines(question);
  if (lines.size() != k_lines_of_question) return std::nullopt;
  const Args how = words_of(lines[0]);
  const auto seconds = how.size() == 4 ? whole_number<int>(how[1]) : std::nullopt;
  if (!seconds) return std::nullopt;
  Command command;
  command.argv = words_of(lines[1]);
  command.env = environment_of(words_of(lines[2]), system.environment);
  command.cwd = how[2] == "build folder" ? asking_folder : Path(how[3]);
  command.timeout = std::chrono::seconds(*seconds);
  command.is_alone = how[0] == "alone";
  command.is_question = true;
  return command;
}

std::string digest_of(const Result<ProcessResult>& answer, const Path& asking_folder,
                      const FileReader& files) {
  if (!answer) return sha256(answer.error().code + " " + answer.error().what);
  return digest_of_answer(*answer, asking_folder, files);
}

}  // namespace

WatchedProcesses::WatchedProcesses(const System& system, const Path& folder)
    : system_(system), asking_folder_(asking_folder_of(system, folder)) {}

std::optional<ProcessAnswers> WatchedProcesses::answers() const {
  return can_be_asked_again_ ? std::optional(answers_) : std::nullopt;
}

void WatchedProcesses::note(const Command& command, const Result<ProcessResult>& answer) {
  const std::string question = question_of(command, system_, asking_folder_);
  const std::string digest = digest_of(answer, asking_folder_, system_.files);
  const std::lock_guard guard(mutex_);
  const auto [known, is_new] = answers_.try_emplace(question, digest);
  can_be_asked_again_ = can_be_asked_again_ && command.is_question && known->second == digest;
}

Result<ProcessResult> WatchedProcesses::run(const Command& command) {
  auto answer = system_.processes.run(command);
  note(command, answer);
  return answer;
}

Result<ProcessResult> WatchedProcesses::run_on_terminal(
    const Command& command, const std::vector<int>& inherited,
    const std::function<void(std::string_view)>& on_output, const std::function<bool()>& on_tick) {
  {
    const std::lock_guard guard(mutex_);
    can_be_asked_again_ = false;
  }
  return system_.processes.run_on_terminal(command, inherited, on_output, on_tick);
}

std::string render_process_answers(const ProcessAnswers& answers) {
  std::string text;
  for (const auto& [question, digest] : answers)
    text += digest + "\n" + question;
  return text;
}

std::optional<ProcessAnswers> parse_process_answers(std::string_view text) {
  ProcessAnswers answers;
  while (!text.empty()) {
    size_t end = 0;
    for (size_t line = 0; line <= k_lines_of_question; ++line) {
      end = text.find('\n', end);
      if (end == std::string_view::npos) return std::nullopt;
      ++end;
    }
    const size_t after_digest = text.find('\n') + 1;
    answers.emplace(text.substr(after_digest, end - after_digest), text.substr(0, after_digest - 1));
    text.remove_prefix(end);
  }
  return answers;
}

bool programs_say_the_same(const ProcessAnswers& answers, const System& system, const Path& folder) {
  const Path asking_folder = asking_folder_of(system, folder);
  std::vector<std::pair<Command, const std::string*>> questions;
  for (const auto& [question, digest] : answers) {
    auto command = command_of(question, system, asking_folder);
    if (!command) return false;
    questions.emplace_back(std::move(*command), &digest);
  }
  std::vector<std::future<bool>> same;
  for (const auto& [command, digest] : questions)
    // With names of their own: clang before 16 takes no part of a pair into a lambda.
    same.push_back(
        std::async(std::launch::async, [&system, &asking_folder, &asked = command, expected = digest] {
          return digest_of(system.processes.run(asked), asking_folder, system.files) == *expected;
        }));
  bool all = true;
  for (std::future<bool>& each : same)
    all = each.get() && all;
  return all;
}

}  // namespace dsbuild
