// The answers of programs that a plan started. Some answers may change although no file changes: those of a
// compiler's wrapper, of nvidia-smi, of a Python without torch. A null build asks these programs again.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sys/system.h"

namespace dsbuild {

// A question as text (command, folder, variables, time limit) -> the digest of its answer. A variable that a
// program inherits is in the text by its name alone, so dsbuild stores no value of the caller's environment.
using ProcessAnswers = std::map<std::string, std::string>;

// Passes every command on to the system, and notes questions and answers. Several threads may call it.
class WatchedProcesses : public ProcessRunner {
 public:
  // `folder`: the build folder. dsbuild asks tools there, or in the nearest existing folder above it
  // (`asking_folder` in toolkit.h).
  WatchedProcesses(const System& system, const Path& folder);
  // nullopt: a null build cannot ask again. Either a command does more than answer (Command::is_question is
  // false), such as a probe's compile, or a program gave two answers to one question.
  std::optional<ProcessAnswers> answers() const;

  Result<ProcessResult> run(const Command& command) override;
  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>& inherited,
                                        const std::function<void(std::string_view)>& on_output,
                                        const std::function<bool()>& on_tick) override;

 private:
  void note(const Command& command, const Result<ProcessResult>& answer);

  const System& system_;
  Path asking_folder_;
  std::mutex mutex_;
  ProcessAnswers answers_;
  bool can_be_asked_again_ = true;
};

// The text has four lines for each question.
std::string render_process_answers(const ProcessAnswers& answers);
// nullopt: the text is damaged.
std::optional<ProcessAnswers> parse_process_answers(std::string_view text);

// Asks all programs again, in parallel. Returns whether each gave the same answer.
bool programs_say_the_same(const ProcessAnswers& answers, const System& system, const Path& folder);

}  // namespace dsbuild
