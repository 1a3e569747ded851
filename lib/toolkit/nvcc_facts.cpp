#include "toolkit/nvcc_facts.h"

#include "arch/nvidia.h"
#include "base/text.h"
#include "toolkit/nvcc_family.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

tl::expected<std::string, std::string> run_nvcc(const Path& nvcc, const std::string& option, System& system,
                                                const Environment& environment) {
  const auto answer = run_compiler({nvcc.string(), option}, "bin/nvcc", system, environment);
  if (!answer) return Reason(answer.error());
  if (answer->ok()) return answer->out;
  return Reason(why_it_failed(*answer, "bin/nvcc"));
}

CompilerAnswer start_nvcc(const Path& nvcc, System& system, const Environment& environment) {
  CompilerFacts found;
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

void parse_nvcc_help(std::string_view help_output, CompilerFacts& facts) {
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

CompilerQuestion question_to_nvcc(const Path& nvcc, System& system, FactStore& facts,
                                  const Environment& environment) {
  return {"nvcc " + system.files.real_path(nvcc).value_or(nvcc).string(),
          basis_of_answers(nvcc, nvcc_proof(), "", system, facts),
          [=, &system] { return start_nvcc(nvcc, system, environment); }};
}

}  // namespace dsbuild
