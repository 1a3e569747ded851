// What programs said while a plan was made: a null build asks them again, where files alone do not tell that
// they would say the same (a compiler's wrapper, nvidia-smi, a Python without torch).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sys/system.h"

namespace dsbuild {

// A question's lines -> the digest of its answer. Variables that a program gets as the caller has them stand
// there by name alone, so that no value of theirs is written down.
using ProcessAnswers = std::map<std::string, std::string>;

// Passes everything on, and notes what was asked. Several threads may ask at once.
class WatchedProcesses : public ProcessRunner {
 public:
  // `folder`: the build folder, in which tools are asked (toolkit.h: asking_folder).
  WatchedProcesses(const System& system, const Path& folder);
  // nullopt: a program was started for more than its answer (Command::is_question), as a probe's compiler is,
  // or one gave two answers to one question.
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

// Four lines for each.
std::string render_process_answers(const ProcessAnswers& answers);
// nullopt: the text is damaged.
std::optional<ProcessAnswers> parse_process_answers(std::string_view text);

// Asks all of them again, at once; whether each says the same.
bool programs_say_the_same(const ProcessAnswers& answers, const System& system, const Path& folder);

}  // namespace dsbuild
