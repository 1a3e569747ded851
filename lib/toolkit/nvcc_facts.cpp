#include "toolkit/nvcc_facts.h"

#include "arch/nvidia.h"
#include "base/text.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

std::string first_line(const std::string& text) {
  const std::vector<std::string> lines = split(text, "\r\n");
  return lines.empty() ? "" : trim(printable(lines.front()));
}

tl::expected<std::string, std::string> run_nvcc(const Path& nvcc, const std::string& option, System& system,
                                                const Environment& environment) {
  const auto answer =
      system.processes.run({{nvcc.string(), option}, environment, {}, std::chrono::seconds(60)});
  if (!answer) return Reason("bin/nvcc does not run: " + answer.error().what);
  if (answer->timed_out) return Reason("bin/nvcc " + option + " does not end");
  if (answer->ok()) return answer->out;
  const std::string said = first_line(answer->err.empty() ? answer->out : answer->err);
  return Reason("bin/nvcc does not run: " +
                (said.empty() ? "exit code " + std::to_string(answer->exit_code) : said));
}

// One fact: version, target names, options; a line each.
std::string render(const NvccFacts& facts) {
  const std::vector<std::string> options(facts.options.begin(), facts.options.end());
  return facts.version.text() + "\n" + target_names(facts.targets) + "\n" + join(options, " ");
}

std::optional<NvccFacts> parse(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  if (lines.size() != 3) return std::nullopt;
  NvccFacts facts;
  facts.version = parse_version(lines[0]).value_or(Version{});
  for (const std::string& name : split(lines[1], " ")) {
    if (const auto target = nvidia().parse_name(name)) facts.targets.insert(*target);
  }
  for (const std::string& option : split(lines[2], " "))
    facts.options.insert(option);
  if (facts.version.empty() || facts.targets.empty()) return std::nullopt;
  return facts;
}

tl::expected<NvccFacts, std::string> start_nvcc(const Path& nvcc, System& system,
                                                const Environment& environment) {
  NvccFacts found;
  const auto version = run_nvcc(nvcc, "--version", system, environment);
  if (!version) return Reason(version.error());
  found.version = parse_nvcc_version(*version);
  if (found.version.empty()) return Reason("bin/nvcc --version names no release");
  const auto help = run_nvcc(nvcc, "--help", system, environment);
  if (!help) return Reason(help.error());
  parse_nvcc_help(*help, found);
  if (found.targets.empty()) return Reason("nvcc --help lists no gpu code");
  return found;
}

}  // namespace

Version parse_nvcc_version(std::string_view version_output) {
  for (const std::string_view before : {", V", "release "}) {
    const size_t at = version_output.find(before);
    if (at == std::string_view::npos) continue;
    if (const auto version = parse_version(version_output.substr(at + before.size()))) return *version;
  }
  return {};
}

void parse_nvcc_help(std::string_view help_output, NvccFacts& facts) {
  std::string option;
  bool in_values = false;
  for (const std::string& line : split_lines(help_output)) {
    if (line.starts_with("--")) {
      option = line.substr(0, line.find_first_of(" \t\r"));
      facts.options.insert(option);
      in_values = false;
    }
    in_values = in_values || line.find("Allowed values for this option:") != std::string::npos;
    if (!in_values || option != "--gpu-code") continue;
    for (const std::string& word : split(line, " \t\r',.")) {
      if (const auto target = nvidia().parse_name(word)) facts.targets.insert(*target);
    }
  }
}

tl::expected<NvccFacts, std::string> ask_nvcc(const Path& nvcc, System& system,
                                              const Environment& environment, FactStore& facts) {
  const Path real = system.files.real_path(nvcc).value_or(nvcc);
  const std::optional<FileIdentity> identity = system.files.identity(nvcc);
  const std::string key = "nvcc " + real.string();
  if (identity) {
    if (const auto known = facts.find(key, identity->text())) {
      if (auto parsed = parse(*known)) return *parsed;
    }
  }
  auto found = start_nvcc(nvcc, system, environment);
  if (found && identity) facts.put(key, identity->text(), render(*found));
  return found;
}

bool nvcc_answers_as_known(const Path& nvcc, System& system, const Environment& environment,
                           FactStore& facts) {
  const auto known = ask_nvcc(nvcc, system, environment, facts);
  const auto now = start_nvcc(nvcc, system, environment);
  const std::optional<FileIdentity> identity = system.files.identity(nvcc);
  if (!known || !now || !identity || render(*known) == render(*now)) return true;
  facts.put("nvcc " + system.files.real_path(nvcc).value_or(nvcc).string(), identity->text(), render(*now));
  return false;
}

}  // namespace dsbuild
