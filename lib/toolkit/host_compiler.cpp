#include "toolkit/host_compiler.h"

#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "toolkit/tool_answers.h"
#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

constexpr int k_unnumbered = 1'000;  // the rank of plain g++: before every g++-N

struct Candidate {
  Path path;
  std::string origin;
};

// Compiler caches that stand in for a compiler under its name; dsbuild wants the compiler itself.
bool is_compiler_cache(const Path& program) {
  static const std::set<std::string> caches = {"ccache", "sccache", "distcc", "icecc"};
  return caches.count(program.filename().string()) > 0;
}

bool is_compiler(const FileReader& files, const Path& path) {
  if (files.kind(path) != FileKind::file || !files.is_executable(path)) return false;
  const std::optional<Path> real = files.real_path(path);
  return real && !is_compiler_cache(*real);
}

// CXX="ccache g++ -m64": the first word that is no wrapper.
void add_variable(const Settings& settings, const System& system, const std::string& name,
                  std::vector<Candidate>& candidates) {
  for (const std::string& word : shell_split(settings.variable(name))) {
    if (is_compiler_cache(word)) continue;
    const auto program = find_program(system, word);
    if (program) candidates.push_back({system.files.absolute(*program), name});
    return;
  }
}

// g++-12 -> 12 for the prefix "g++-"; 0 for anything else.
int number_of(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return 0;
  const int number = whole_number<int>(name.substr(prefix.size())).value_or(0);
  return number > 0 && number < 1000 ? number : 0;
}

// `name` itself, then name-N with the highest N first; PATH's order among equals.
void add_from_path(const System& system,
                   const std::vector<std::pair<Path, std::vector<std::string>>>& folders,
                   const std::string& name, std::vector<Candidate>& candidates) {
  std::multimap<int, Path, std::greater<>> numbered;
  for (const auto& [folder, entries] : folders) {
    for (const std::string& entry : entries) {
      const int number = entry == name ? k_unnumbered : number_of(entry, name + "-");
      if (number > 0 && is_compiler(system.files, folder / entry)) numbered.emplace(number, folder / entry);
    }
  }
  for (const auto& [number, path] : numbered)
    candidates.push_back({path, "PATH"});
}

std::vector<Candidate> compiler_candidates(const Settings& settings, const System& system) {
  std::vector<Candidate> candidates;
  for (const char* name : {"CUDAHOSTCXX", "NVCC_CCBIN", "CXX"})
    add_variable(settings, system, name, candidates);
  std::vector<std::pair<Path, std::vector<std::string>>> folders;
  for (const std::string& folder : path_folders(system)) {
    if (auto entries = system.files.list(folder)) folders.emplace_back(folder, std::move(*entries));
  }
  for (const char* name : {"g++", "clang++"})
    add_from_path(system, folders, name, candidates);
  return candidates;
}

// "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6" -> "gcc 12.2.0", "clang 14.0.6"; "" for
// what is neither (the text after the first line tells gcc by its copyright).
std::string compiler_fact(const std::string& version_output) {
  const std::vector<std::string> lines = split_lines(version_output);
  if (lines.empty()) return "";
  const std::string& first = lines.front();
  const bool is_clang = first.find("clang version ") != std::string::npos;
  const bool is_gcc = !is_clang && version_output.find("Free Software Foundation") != std::string::npos;
  if (!is_clang && !is_gcc) return "";
  const std::string before = is_clang ? "clang version " : ") ";
  const size_t at = first.find(before);
  if (at == std::string::npos) return "";
  const auto version = parse_version(std::string_view(first).substr(at + before.size()));
  return version ? (is_clang ? "clang " : "gcc ") + version->text() : "";
}

std::string current_fact(System& system, const Path& compiler) {
  const auto answer = system.processes.run(question_to_tool(
      {compiler.string(), "--version"}, tool_environment(system, nullptr), system, std::chrono::seconds(30)));
  return answer && answer->ok() ? compiler_fact(answer->out) : "";
}

FactBasis basis_of_version(const Path& compiler, System& system, FactStore& facts) {
  return basis_of_answers(compiler, proof_of_host_compiler(), "", system, facts);
}

// Asks once; the answer is remembered for as long as the file is the same one. A compiler that did not
// answer is asked again the next time.
std::string known_fact(System& system, FactStore& facts, const Path& compiler) {
  const std::string key = "compiler " + compiler.string();
  const FactBasis basis = basis_of_version(compiler, system, facts);
  if (const auto known = facts.find(key, basis)) return *known;
  const std::string fact = current_fact(system, compiler);
  if (!fact.empty()) facts.put(key, basis, fact);
  return fact;
}

// x86_64-linux-gnu-gcc-12 for x86_64-linux-gnu-g++-12.
std::string driver_for_c(const std::string& name) {
  for (const auto& [cxx, c] : {std::pair{"clang++", "clang"}, {"g++", "gcc"}, {"c++", "cc"}})
    if (name.find(cxx) != std::string::npos) return replace_all(name, cxx, c);
  return name;
}

}  // namespace

std::optional<Path> find_named_host_compiler(const std::string& named, const System& system) {
  const bool is_folder = system.files.kind(named) == FileKind::directory;
  const auto program = find_program(system, is_folder ? named + "/gcc" : named);
  return program ? std::optional(system.files.absolute(*program)) : std::nullopt;
}

bool is_usual_host_compiler(const std::string& named, const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  const auto program = find_named_host_compiler(named, system);
  const std::vector<Candidate> candidates = compiler_candidates(settings, system);
  if (!program || candidates.empty()) return false;
  const auto real = files.real_path(*program), usual = files.real_path(candidates.front().path);
  if (!real || !usual) return false;
  return *real == *usual || *real == usual->parent_path() / driver_for_c(usual->filename().string());
}

bool compiler_answers_as_known(const Path& compiler, System& system, FactStore& facts) {
  const std::string known = known_fact(system, facts, compiler), now = current_fact(system, compiler);
  if (now.empty() || known == now) return true;
  facts.put("compiler " + compiler.string(), basis_of_version(compiler, system, facts), now);
  return false;
}

std::vector<HostCompiler> find_host_compilers(const Settings& settings, System& system, FactStore& facts) {
  std::vector<HostCompiler> compilers;
  std::set<Path> seen;
  for (const Candidate& candidate : compiler_candidates(settings, system)) {
    const std::optional<Path> real = system.files.real_path(candidate.path);
    if (!real || !seen.insert(*real).second) continue;
    const std::vector<std::string> words = split(known_fact(system, facts, candidate.path), " ");
    if (words.size() != 2) continue;
    compilers.push_back(
        {candidate.path, words[0], parse_version(words[1]).value_or(Version{}), candidate.origin});
  }
  return compilers;
}

}  // namespace dsbuild
