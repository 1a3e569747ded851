#include "toolkit/tool_parts.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/configuration_files.h"
#include "toolkit/family.h"
#include "toolkit/interview.h"
#include "toolkit/loaded_libraries.h"
#include "toolkit/tool_answers.h"
#include "toolkit/wrappers.h"

namespace dsbuild {
namespace {

constexpr std::array k_own_programs = {"as", "ld", "real-ld", "collect-ld", "cc1plus", "collect2"};

// What a C++ compiler is asked, in this order: what it would run for a compile and for a link, with names of
// files that need not be there; its assembler and linker; where it looks.
enum HostQuestion { to_compile, to_link, assembler, linker, searching, including };

std::vector<Args> host_questions(const Path& compiler) {
  std::vector<Args> questions = {
      proof_of_host_compiler().question,
      {"-###", "-shared", "-x", "none", "/dev/null", "-o", "dsbuild.so"},
      {"-print-prog-name=as"},
      {"-print-prog-name=ld"},
      {"-print-search-dirs"},
      {"-v", "-E", "-x", "c++", "/dev/null"},
  };
  for (Args& question : questions)
    question.insert(question.begin(), compiler.string());
  return questions;
}

// Where a compiler looks for programs, which all may come to be there: "programs: =<folder>:…".
Args program_folders_in(const std::string& said) {
  constexpr std::string_view k_programs = "programs: =";
  for (const std::string& line : split_lines(said))
    if (line.starts_with(k_programs)) return split(line.substr(k_programs.size()), ":");
  return {};
}

// By name alone: on PATH. One that was found there may be found in another of its folders by now.
void add_program(const std::string& answer, const char* name, const Args& path, Paths& found) {
  const std::string said = trim(answer);
  if (said.empty() || said.find('\n') != std::string::npos) return;
  found.insert(said);
  if (std::ranges::find(path, Path(said).parent_path().string()) != path.end()) found.insert(name);
}

// What it would run, and every file that would be run in their place if it were there.
Paths parts_in(const std::vector<std::string>& said, const System& system) {
  Paths found = files_named_in(said[to_compile], system.files);
  found.merge(files_named_in(said[to_link], system.files));
  add_program(said[assembler], "as", path_folders(system), found);
  add_program(said[linker], "ld", path_folders(system), found);
  for (const Path folder : program_folders_in(said[searching]))
    for (const char* name : k_own_programs)
      if (folder.is_absolute()) found.insert((folder / name).string());
  return found;
}

// Between "#include <...> search starts here:" and "End of search list."; and those that are not there, for
// they may come.
std::vector<std::string> include_folders_in(const std::string& said) {
  constexpr std::string_view k_absent = "ignoring nonexistent directory ";
  std::vector<std::string> folders;
  bool in_list = false;
  for (const std::string& line : split_lines(said)) {
    if (line.starts_with(k_absent))
      for (const std::string& folder : shell_split(line.substr(k_absent.size())))
        folders.push_back(folder);
    if (line.starts_with("End of search list")) in_list = false;
    if (in_list && line.starts_with(" ")) folders.push_back(trim(line));
    if (line.starts_with("#include ")) in_list = true;
  }
  return folders;
}

// "-L<folder>" of those that the linker is given, which are there, and of "libraries: =<folder>:…", which all
// may come to be.
std::vector<std::string> library_folders_in(const std::string& said) {
  constexpr std::string_view k_libraries = "libraries: =";
  std::vector<std::string> folders;
  for (const std::string& line : split_lines(said)) {
    if (line.starts_with(k_libraries))
      for (const std::string& folder : split(line.substr(k_libraries.size()), ":"))
        if (folder.starts_with("/")) folders.push_back("-L" + folder);
    for (const std::string& word : shell_split(line))
      if (word.starts_with("-L/")) folders.push_back(word);
  }
  return folders;
}

// What is not there counts as absent: it may come.
std::string render(const Paths& parts, const Environment& environment, System& system, DigestMemo& digests) {
  std::string text;
  for (const std::string& part : parts) {
    const auto path = find_program(system.files, part, environment);
    const auto digest = digests.digest(path.value_or(part));
    text += (digest ? *digest : "absent") + " " + part + "\n";
  }
  return text;
}

// Where a part lies does not change what it makes of a text.
std::string without_folders(const std::string& text) {
  std::set<std::string> lines;
  for (const std::string& line : split_lines(text)) {
    const size_t space = line.find(' ');
    lines.insert(line.substr(0, space + 1) + Path(line.substr(space + 1)).filename().string());
  }
  return join({lines.begin(), lines.end()}, "\n") + "\n";
}

// A line of each part, of what scripts among them name, and of each library that they load.
Result<std::string> text_of_parts(Paths parts, const Environment& environment, System& system,
                                  FactStore& facts, DigestMemo& digests) {
  Paths programs;
  for (const std::string& part : parts)
    if (const auto path = find_program(system.files, part, environment)) programs.insert(path->string());
  parts.merge(files_of_scripts(programs, system.files, facts));
  DSBUILD_TRY(libraries, libraries_of_parts(parts, environment, system, facts));
  return render(parts, environment, system, digests) + render(libraries, environment, system, digests);
}

// What a compiler says to a question that it may not know, remembered for as long as it is made of the same
// parts.
Result<std::string> remembered_answer(const Args& argv, const FactBasis& parts,
                                      const Environment& environment, System& system, FactStore& facts) {
  const std::string key = "answer to " + shell_join(argv);
  if (const auto known = facts.find(key, parts)) return *known;
  DSBUILD_TRY(said, said_if_known(argv, environment, system));
  facts.put(key, parts, said);
  return said;
}

// Of text_of_parts.
std::string compile_parts_of(const std::string& text, const Environment& environment, const System& system) {
  std::string parts;
  for (const std::string& line : split_lines(text)) {
    const size_t space = line.find(' ');
    const Path part = line.substr(space + 1);
    const std::string name = part.filename().string();
    const bool is_program = name == "cc1plus" || name == "as";
    const bool is_library = name.find(".so") != std::string::npos && name != "liblto_plugin.so";
    const auto path = is_program ? find_program(system.files, part.string(), environment) : part;
    if ((is_program || is_library) && path && is_sha256(line.substr(0, space)))
      parts += line.substr(0, space) + " " + path->string() + "\n";
  }
  return parts;
}

Result<ToolText> ask_host_compiler(const Path& compiler, System& system, FactStore& facts,
                                   DigestMemo& digests) {
  const Environment environment = asking_environment(system, nullptr);
  const bool is_asked_again = is_wrapper(compiler, proof_of_host_compiler(), system, facts);
  const FactBasis basis = basis_of_answers(compiler, proof_of_host_compiler(), "", system, facts);
  DSBUILD_TRY(said, interview({compiler.string(), compiler, host_questions(compiler), basis, is_asked_again},
                              environment, system, facts));
  Paths parts = parts_in(said.answers, system);
  parts.merge(said.configuration);
  parts.insert(compiler.string());
  ToolText tool;
  DSBUILD_TRY(text, text_of_parts(std::move(parts), environment, system, facts, digests));
  tool.text = text + said.text + text_of_variables(system);
  tool.compile_parts = compile_parts_of(text, environment, system);
  const FactBasis by_parts = {sha256(tool.text), {}, is_asked_again};
  const auto asked = [&](Args argv) -> Result<std::string> {
    argv.insert(argv.begin(), compiler.string());
    return remembered_answer(argv, by_parts, environment, system, facts);
  };
  DSBUILD_TRY(of_linker, asked({"-Wl,--help"}));
  DSBUILD_TRY(of_assembler, asked({"-Wa,--help", "-c", "-x", "assembler", "/dev/null", "-o", "/dev/null"}));
  tool.links_tell_files = of_linker.find("--dependency-file") != std::string::npos;
  // A wrapper may add -flto.
  tool.assembler_tells_files = said.answers[including].find("-flto") == std::string::npos &&
                               of_assembler.find("--MD ") != std::string::npos;
  tool.folders = include_folders_in(said.answers[including]);
  for (const HostQuestion question : {to_link, searching})
    for (const std::string& folder : library_folders_in(said.answers[question]))
      tool.folders.push_back(folder);
  return tool;
}

bool has_wrapped_host(const Toolkit& toolkit, System& system, FactStore& facts) {
  return toolkit.host && is_wrapper(toolkit.host->path, proof_of_host_compiler(), system, facts);
}

}  // namespace

const ToolText& ToolParts::of(const std::string& name) const {
  static const ToolText none;
  const auto found = by_name.find(name);
  return found == by_name.end() ? none : found->second;
}

bool is_wrapped(const Toolkit& toolkit, System& system, FactStore& facts) {
  return is_wrapper(toolkit.compiler(), toolkit.family->proof(), system, facts);
}

bool has_wrapper(const Toolkit& toolkit, System& system, FactStore& facts) {
  return is_wrapped(toolkit, system, facts) || has_wrapped_host(toolkit, system, facts);
}

bool wrappers_answer_as_known(const std::vector<Toolkit>& toolkits, const std::optional<HostCompiler>& cxx,
                              System& system, FactStore& facts) {
  const auto compiler_does = [&](const std::optional<HostCompiler>& compiler) {
    return !compiler || !is_wrapper(compiler->path, proof_of_host_compiler(), system, facts) ||
           compiler_answers_as_known(compiler->path, system, facts);
  };
  bool all_do = compiler_does(cxx);
  for (const Toolkit& toolkit : toolkits) {
    const bool does =
        !is_wrapped(toolkit, system, facts) || toolkit.family->answers_as_known(toolkit, system, facts);
    const bool is_asked = cxx && toolkit.host && toolkit.host->path == cxx->path;
    all_do = (is_asked || compiler_does(toolkit.host)) && does && all_do;
  }
  return all_do;
}

std::string text_of_files_in_flags(const std::vector<std::string>& flags, const Path& folder,
                                   const FileReader& files, DigestMemo& digests) {
  std::string text;
  for (const std::string& file : files_in_flags(flags, folder, files))
    text += digests.digest(file).value_or("absent") + " " + file + "\n";
  return text;
}

Result<ToolText> HostCompilerParts::of(const Path& compiler, System& system, FactStore& facts,
                                       DigestMemo& digests) {
  if (const auto known = known_.find(compiler); known != known_.end()) return known->second;
  DSBUILD_TRY(tool, ask_host_compiler(compiler, system, facts, digests));
  return known_.emplace(compiler, std::move(tool)).first->second;
}

Result<ToolText> parts_of_toolkit(const Toolkit& toolkit, HostCompilerParts& hosts, System& system,
                                  FactStore& facts, DigestMemo& digests) {
  const CompilerFamily& family = *toolkit.family;
  const Environment environment = asking_environment(system, &toolkit);
  const std::string host = toolkit.host ? toolkit.host->path.string() : "";
  ToolText tool;
  if (toolkit.host) {
    DSBUILD_TRY(host_parts, hosts.of(toolkit.host->path, system, facts, digests));
    tool = std::move(host_parts);
    tool.assembler_tells_files = tool.assembler_tells_files && family.host_option;
  }
  Interview asked{toolkit.compiler().string() + " with " + host,
                  toolkit.compiler(),
                  {family.question(toolkit)},
                  basis_of_answers(toolkit.compiler(), family.proof(), tool.text, system, facts),
                  is_wrapped(toolkit, system, facts)};
  asked.basis.files.push_back(toolkit.home / family.configuration);
  asked.basis.is_of_machine = asked.basis.is_of_machine || has_wrapped_host(toolkit, system, facts);
  if (family.include_question) asked.questions.push_back(family.include_question(toolkit));
  DSBUILD_TRY(said, interview(asked, environment, system, facts));
  Paths parts = family.parts(said.answers.front(), toolkit, system.files);
  parts.merge(said.configuration);
  parts.insert(toolkit.compiler().string());
  DSBUILD_TRY(text, text_of_parts(std::move(parts), environment, system, facts, digests));
  if (family.device_parts) {
    DSBUILD_TRY(device, text_of_parts(family.device_parts(said.answers.front(), toolkit, system.files),
                                      environment, system, facts, digests));
    tool.device_parts = device;
    tool.device_text = without_folders(device) + said.text + text_of_variables(system);
  }
  tool.text = text + said.text + (toolkit.host ? tool.text : text_of_variables(system));
  if (family.include_question)
    for (const std::string& folder : include_folders_in(said.answers.back()))
      tool.folders.push_back(folder);
  return tool;
}

}  // namespace dsbuild
