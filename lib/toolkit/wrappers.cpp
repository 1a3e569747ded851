#include "toolkit/wrappers.h"

#include "base/text.h"
#include "toolkit/loaded_libraries.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

bool is_of_gcc_or_clang(const std::string& said, const Path& program, const FileReader& files) {
  for (const std::string& line : split_lines(said)) {
    if (line == "COLLECT_GCC=" + program.string()) return true;
    const Args words = line.find("-cc1") == std::string::npos ? Args() : shell_split(line);
    if (words.size() > 1 && words[1] == "-cc1" && files.real_path(words[0]) == files.real_path(program))
      return true;
  }
  return false;
}

bool answers_by_itself(const Path& program, const DriverProof& proof, System& system) {
  Args argv = {program.string()};
  argv.insert(argv.end(), proof.question.begin(), proof.question.end());
  Command question = question_to_tool(std::move(argv), asking_environment(system, nullptr), system);
  question.is_alone = true;
  const auto answer = system.processes.run(question);
  return answer && answer->ok() &&
         proof.is_of_driver(answer->out + "\n" + answer->err, program, system.files);
}

// A program whose libraries nobody tells may be made of anything elsewhere.
FactBasis basis_of_program(const Path& program, System& system, FactStore& facts) {
  FactBasis basis{.files = {program}};
  const auto libraries = loaded_libraries(program, asking_environment(system, nullptr), system, facts);
  basis.is_of_machine = !libraries;
  if (libraries) basis.files.insert(basis.files.end(), libraries->begin(), libraries->end());
  return basis;
}

// nullopt: a wrapper.
std::optional<FactBasis> basis_of_driver(const Path& program, const DriverProof& proof, System& system,
                                         FactStore& facts) {
  if (is_script(program, system.files, facts)) return std::nullopt;
  FactBasis basis = basis_of_program(program, system, facts);
  const std::string key = "driver " + program.string();
  const auto known = facts.find(key, basis);
  const bool itself = known ? *known == "itself" : answers_by_itself(program, proof, system);
  basis.is_of_machine = basis.is_of_machine || !itself;
  if (!known) facts.put(key, basis, itself ? "itself" : "a wrapper");
  return itself ? std::optional(std::move(basis)) : std::nullopt;
}

// Without the files that a shell's text writes (">> /w/log"): they say nothing of what it does.
std::string without_written_files(const std::string& text) {
  std::string left;
  for (size_t at = 0; at < text.size();) {
    const size_t mark = std::min(text.find('>', at), text.size());
    left += text.substr(at, mark - at);
    const size_t file = std::min(text.find_first_not_of("> \t\"'&|", mark), text.size());
    at = std::min(text.find_first_of(" \t\r\n\"';|&<>()", file), text.size());
    left += mark < text.size() ? " " : "";
  }
  return left;
}

// Words of a shell's text, however they are quoted and joined: "$(cat /w/options)", "exec '/w/g++'".
Paths paths_in_script(const std::string& whole_text) {
  const std::string text = without_written_files(whole_text);
  Paths found;
  const size_t first_line = text.starts_with("#!") ? std::min(text.find('\n'), text.size()) : 0;
  for (const std::string& word : split(text.substr(first_line), " \t\r\n\"'`$(){}<>;|&=,"))
    if (word.starts_with('/')) found.insert(word);
  for (const std::string& line : split_lines(text.substr(first_line)))
    for (const std::string& word : shell_split(line))
      if (word.starts_with('/')) found.insert(word);
  return found;
}

}  // namespace

bool is_script(const Path& program, const FileReader& files, FactStore& facts) {
  const auto identity = files.identity(program);
  if (!identity) return false;
  const std::string key = "kind of " + program.string();
  if (const auto known = facts.find(key, identity->text())) return *known == "script";
  const auto bytes = files.read_file(program);
  const bool script = !bytes || !bytes->starts_with(k_elf_magic);
  facts.put(key, identity->text(), script ? "script" : "machine code");
  return script;
}

const DriverProof& proof_of_host_compiler() {
  static const DriverProof proof = {{"-###", "-c", "-x", "c++", "/dev/null", "-o", "dsbuild.o"},
                                    is_of_gcc_or_clang};
  return proof;
}

bool is_wrapper(const Path& program, const DriverProof& proof, System& system, FactStore& facts) {
  return system.files.identity(program) && !basis_of_driver(program, proof, system, facts);
}

FactBasis basis_of_answers(const Path& program, const DriverProof& proof, const std::string& text,
                           System& system, FactStore& facts) {
  FactBasis basis = basis_of_driver(program, proof, system, facts).value_or(FactBasis{"", {program}, true});
  basis.text = text;
  return basis;
}

Paths files_of_scripts(const Paths& programs, const FileReader& files, FactStore& facts) {
  constexpr size_t k_longest = 1 << 20;
  Paths found, left = programs;
  while (!left.empty()) {
    const std::string program = left.extract(left.begin()).value();
    if (!files.is_executable(program) || !is_script(program, files, facts)) continue;
    const auto text = files.read_file(program);
    if (!text || text->size() > k_longest) continue;
    for (const std::string& path : paths_in_script(*text))
      if (files.kind(path) == FileKind::file && programs.count(path) == 0 && found.insert(path).second)
        left.insert(path);
  }
  return found;
}

}  // namespace dsbuild
