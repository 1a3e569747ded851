// A process runner that starts nothing: it answers from a script and counts what it was asked for.
//
//   FakeProcessRunner processes;
//   processes.on({"nvcc", "--version"}, "release 13.0, V13.0.88\n");
//   processes.on({"g++"}, [](const Command& command) { return FakeProcessRunner::failed("…"); });
//   … REQUIRE(processes.starts("nvcc") == 1);
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.h"
#include "sys/process.h"

namespace dsbuild {

class FakeProcessRunner : public ProcessRunner {
 public:
  using Answer = std::function<ProcessResult(const Command&)>;

  std::vector<Command> started;  // every command asked for, in order

  static ProcessResult succeeded(std::string out, std::string err = "") {
    return {0, false, std::move(out), std::move(err)};
  }
  static ProcessResult failed(std::string err, int exit_code = 1) {
    return {exit_code, false, "", std::move(err)};
  }
  static ProcessResult out_of_time() { return {137, true, "", ""}; }

  // Answers commands whose argv[0] is words[0] (as a path, or as its last name) and whose other
  // arguments hold the other words, in that order. What was added last is asked first.
  void on(std::vector<std::string> words, Answer answer) {
    rules_.push_back({std::move(words), std::move(answer)});
  }
  void on(std::vector<std::string> words, ProcessResult result) {
    on(std::move(words), [result = std::move(result)](const Command&) { return result; });
  }
  void on(std::vector<std::string> words, std::string out) {
    on(std::move(words), succeeded(std::move(out)));
  }
  void on(std::vector<std::string> words, const char* out) { on(std::move(words), std::string(out)); }

  size_t starts() const { return started.size(); }
  size_t starts(const std::string& program) const {
    return static_cast<size_t>(std::count_if(started.begin(), started.end(), [&](const Command& command) {
      return is_program(command, program);
    }));
  }

  // A command without a rule cannot be started.
  Result<ProcessResult> run(const Command& command) override {
    const std::lock_guard one_at_a_time(*mutex_);  // callers may ask several at once
    started.push_back(command);
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
      if (matches(command, rule->words)) return rule->answer(command);
    }
    return fail(Exit::unmet, "cannot_start", command.argv.empty() ? "" : command.argv[0],
                "cannot be started: No such file or directory");
  }
  // The answer's `out` arrives as output, in one piece.
  Result<ProcessResult> run_on_terminal(const Command& command, const std::vector<int>&,
                                        const std::function<void(std::string_view)>& on_output,
                                        const std::function<bool()>& on_tick) override {
    auto result = run(command);
    if (!result) return result;
    if (!on_tick()) result->exit_code = 130;
    on_output(result->out);
    result->out.clear();
    return result;
  }

 private:
  struct Rule {
    std::vector<std::string> words;
    Answer answer;
  };

  static bool is_program(const Command& command, const std::string& program) {
    return !command.argv.empty() &&
           (command.argv[0] == program || Path(command.argv[0]).filename() == program);
  }
  static bool matches(const Command& command, const std::vector<std::string>& words) {
    if (!is_program(command, words.at(0))) return false;
    auto at = command.argv.begin() + 1;
    return std::all_of(words.begin() + 1, words.end(), [&](const std::string& word) {
      at = std::find(at, command.argv.end(), word);
      return at != command.argv.end() && (++at, true);
    });
  }

  std::vector<Rule> rules_;
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
};

}  // namespace dsbuild
