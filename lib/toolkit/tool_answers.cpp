#include "toolkit/tool_answers.h"

#include <future>

#include "base/text.h"

namespace dsbuild {
namespace {

std::string said(const ProcessResult& answer) {
  return answer.out + "\n" + answer.err;
}

tl::unexpected<Error> does_not_answer(const Args& argv, const ProcessResult& answer) {
  const std::vector<std::string> lines = split(answer.err + answer.out, "\r\n");
  const std::string how =
      answer.timed_out ? "does not end" : "ends with exit code " + std::to_string(answer.exit_code);
  return fail(Exit::unmet, "tool_does_not_answer", argv.front(),
              shell_join({argv.begin() + 1, argv.end()}) + " " + how +
                  (lines.empty() ? "" : ": " + trim(printable(lines.front()))),
              "Run that by hand. dsbuild has to know what a compiler is made of, so it asks.");
}

Result<std::string> output_of_tool(const Command& question, ProcessRunner& processes) {
  DSBUILD_TRY(answer, processes.run(question));
  if (!answer.ok()) return does_not_answer(question.argv, answer);
  return said(answer);
}

// "/usr/bin/x" of "/usr/bin/x", "-plugin-opt=/usr/bin/x", "COLLECT_LTO_WRAPPER=/usr/bin/x"; "" for others.
std::string path_in(const std::string& word) {
  const size_t slash = word.find('/');
  const bool is_value = slash != std::string::npos && (slash == 0 || word[slash - 1] == '=');
  return is_value ? word.substr(slash) : "";
}

}  // namespace

Result<std::vector<std::string>> said_by_all(const std::vector<Args>& questions,
                                             const Environment& environment, System& system) {
  std::vector<Command> commands;  // here, for only one thread may ask the disk
  for (const Args& argv : questions)
    commands.push_back(question_to_tool(argv, environment, system));
  std::vector<std::future<Result<std::string>>> asked;
  for (const Command& command : commands)
    asked.push_back(
        std::async(std::launch::async, [&] { return output_of_tool(command, system.processes); }));
  std::vector<Result<std::string>> answers;
  for (auto& each : asked)
    answers.push_back(each.get());
  std::vector<std::string> said;
  for (Result<std::string>& answer : answers) {
    if (!answer) return tl::unexpected<Error>(answer.error());
    said.push_back(std::move(*answer));
  }
  return said;
}

Result<std::string> said_if_known(const Args& argv, const Environment& environment, System& system) {
  DSBUILD_TRY(answer, system.processes.run(question_to_tool(argv, environment, system)));
  if (answer.timed_out || answer.exit_code > 128) return does_not_answer(argv, answer);
  return answer.ok() ? said(answer) : "";
}

Paths files_named_in(const std::string& text, const FileReader& files) {
  Paths found;
  for (const std::string& line : split_lines(text))
    for (const std::string& word : shell_split(line))
      if (const std::string path = path_in(word); !path.empty() && files.kind(path) == FileKind::file)
        found.insert(path);
  return found;
}

}  // namespace dsbuild
