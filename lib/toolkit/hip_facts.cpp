#include <algorithm>

#include "arch/amd.h"
#include "base/digest.h"
#include "base/text.h"
#include "toolkit/hip_family.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

// What a clang is asked with, and where.
struct Clang {
  std::string program, shown;  // absolute, and below the toolkit's home
  Args own_flags;
  Environment environment;
};

tl::expected<std::string, std::string> said_by_clang(const Clang& clang, Args more, System& system,
                                                     bool& is_ok) {
  more.insert(more.begin(), clang.program);
  const auto answer = run_compiler(more, clang.shown, system, clang.environment);
  if (!answer) return Reason(answer.error());
  is_ok = answer->ok();
  return answer->out + "\n" + answer->err;
}

// "Debian clang version 22.1.8 (1~deb12u1)", "AMD clang version 18.0.0git (https://…"
Version clang_version_in(const std::string& said) {
  constexpr std::string_view k_before = "clang version ";
  const size_t at = said.find(k_before);
  if (at == std::string::npos) return {};
  return parse_version(std::string_view(said).substr(at + k_before.size())).value_or(Version{});
}

// Of a list of processors, one a line; names that are older than gfx numbers are second names.
std::vector<std::string> processors_in(const std::string& said) {
  std::vector<std::string> found;
  for (const std::string& line : split_lines(said))
    if (const std::string word = trim(line); amd().parse_name(word)) found.push_back(word);
  return found;
}

std::string first_error(const std::string& said) {
  constexpr std::string_view k_error = "error: ";
  for (const std::string& line : split_lines(said))
    if (const size_t at = line.find(k_error); at != std::string::npos)
      return trim(printable(line.substr(at + k_error.size())));
  return "it does not say why";
}

// Takes those that an error line names: "cannot find ROCm device library for gfx950; …", "unsupported HIP gpu
// architecture: gfx9999".
bool take_refused(const std::string& said, std::vector<std::string>& processors) {
  const size_t before = processors.size();
  for (const std::string& line : split_lines(said)) {
    if (line.find("error: ") == std::string::npos) continue;
    for (const std::string& word : split(line, " ;:,'\""))
      processors.erase(std::remove(processors.begin(), processors.end(), word), processors.end());
  }
  return processors.size() < before;
}

Args dry_run(const Clang& clang, const std::vector<std::string>& processors) {
  Args argv = clang.own_flags;
  argv.insert(argv.end(), {"-###", "--cuda-device-only", "-c", "-x", "hip", "/dev/null", "-o", "dsbuild.o"});
  for (const std::string& processor : processors)
    argv.push_back("--offload-arch=" + processor);
  return argv;
}

// "host-x86_64-unknown-linux-gnu" of
// "-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a", which it calls its bundler with:
// its versions have different words. The newest's where it calls none.
std::string bundle_host_in(const std::string& said) {
  constexpr std::string_view k_before = "-targets=";
  const size_t at = said.find(k_before);
  if (at == std::string::npos) return "host-x86_64-unknown-linux-gnu";
  const size_t begin = at + k_before.size();
  return said.substr(begin, said.find(',', begin) - begin);
}

struct Compiled {
  std::vector<std::string> processors;
  std::string bundle_host;
};

// What it compiles: clang itself says for which of its processors it finds no device library. Each round of
// questions takes at least one away.
tl::expected<Compiled, std::string> compiled_by(const Clang& clang, std::vector<std::string> processors,
                                                System& system) {
  while (!processors.empty()) {
    bool is_ok = false;
    const auto said = said_by_clang(clang, dry_run(clang, processors), system, is_ok);
    if (!said) return Reason(said.error());
    if (is_ok) return Compiled{processors, bundle_host_in(*said)};
    if (!take_refused(*said, processors)) return Reason(clang.shown + ": " + first_error(*said));
    if (processors.empty()) return Reason(clang.shown + ": " + first_error(*said));
  }
  return Reason(clang.shown + " knows no processor of AMD's");
}

// Clang 19 and older look for the device library of no processor where they only list them all, and fail.
Args processors_question() {
  return {"--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"};
}

CompilerAnswer ask_clang(const Clang& clang, System& system) {
  bool is_ok = false;
  const auto said = said_by_clang(clang, processors_question(), system, is_ok);
  if (!said) return Reason(said.error());
  if (!is_ok) return Reason(clang.shown + " does not run for AMD's GPUs: " + first_error(*said));
  CompilerFacts found;
  found.version = clang_version_in(*said);
  if (found.version.empty()) return Reason(clang.shown + " names no version");
  auto compiled = compiled_by(clang, processors_in(*said), system);
  if (!compiled) return Reason(compiled.error());
  found.bundle_host = std::move(compiled->bundle_host);
  for (const std::string& processor : compiled->processors)
    found.targets.merge(amd_forms(*amd_target(*amd().parse_name(processor)).processor));
  return found;
}

// Which device libraries there are decides what it compiles.
FactBasis basis_of_targets(const Toolkit& toolkit, const Path& bitcode, System& system, FactStore& facts) {
  const auto names = system.files.list(bitcode);
  const std::string text = shell_join(toolkit.own_flags) + "\n" + (names ? join(*names, " ") : "") + "\n" +
                           text_of_variables(system);
  return basis_of_answers(toolkit.compiler(), proof_of_host_compiler(), sha256(text), system, facts);
}

}  // namespace

CompilerQuestion question_to_clang(const Toolkit& toolkit, const Path& bitcode, System& system,
                                   FactStore& facts) {
  const Path program = toolkit.compiler();
  const Clang clang = {program.string(), program.lexically_relative(toolkit.home).string(), toolkit.own_flags,
                       asking_environment(system, &toolkit)};
  return {"HIP by clang " + program.string() + " in " + toolkit.home.string(),
          basis_of_targets(toolkit, bitcode, system, facts),
          [=, &system] { return ask_clang(clang, system); }};
}

}  // namespace dsbuild
