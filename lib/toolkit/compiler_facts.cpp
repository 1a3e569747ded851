#include "toolkit/compiler_facts.h"

#include "base/text.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

std::string first_line(const std::string& text) {
  const std::vector<std::string> lines = split(text, "\r\n");
  return lines.empty() ? "" : trim(printable(lines.front()));
}

// One fact: version, target names, options, the host in bundles; a line each.
std::string render(const CompilerFacts& facts) {
  const std::vector<std::string> options(facts.options.begin(), facts.options.end());
  return facts.version.text() + "\n" + target_names(facts.targets) + "\n" + join(options, " ") + "\n" +
         facts.bundle_host;
}

std::optional<CompilerFacts> parse(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  if (lines.size() < 2) return std::nullopt;
  CompilerFacts facts;
  facts.version = parse_version(lines[0]).value_or(Version{});
  for (const std::string& name : split(lines[1], " ")) {
    if (const auto target = parse_target_name(name)) facts.targets.insert(*target);
  }
  if (lines.size() > 2)
    for (const std::string& option : split(lines[2], " "))
      facts.options.insert(option);
  if (lines.size() > 3) facts.bundle_host = lines[3];
  if (facts.version.empty() || facts.targets.empty()) return std::nullopt;
  return facts;
}

}  // namespace

CompilerAnswer answer_of(const CompilerQuestion& question, FactStore& facts) {
  if (const auto known = facts.find(question.key, question.basis)) {
    if (auto parsed = parse(*known)) return *parsed;
  }
  auto found = question.ask();
  if (found) facts.put(question.key, question.basis, render(*found));
  return found;
}

bool answers_as_known(const CompilerQuestion& question, FactStore& facts) {
  const auto known = answer_of(question, facts);
  const auto now = question.ask();
  if (!known || !now || render(*known) == render(*now)) return true;
  facts.put(question.key, question.basis, render(*now));
  return false;
}

tl::expected<ProcessResult, std::string> run_compiler(const std::vector<std::string>& argv,
                                                      const std::string& shown, System& system,
                                                      const Environment& environment) {
  auto answer = system.processes.run(question_to_tool(argv, environment, system));
  if (!answer) return Reason(shown + " does not run: " + answer.error().what);
  if (answer->timed_out) return Reason(shown + " " + argv[1] + " does not end");
  return std::move(*answer);
}

std::string why_it_failed(const ProcessResult& answer, const std::string& shown) {
  const std::string said = first_line(answer.err.empty() ? answer.out : answer.err);
  return shown + " does not run: " + (said.empty() ? "exit code " + std::to_string(answer.exit_code) : said);
}

}  // namespace dsbuild
