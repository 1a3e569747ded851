#include "toolkit/tool_parts.h"

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/family.h"
#include "toolkit/loaded_libraries.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

// Where a compiler looks for programs, which all may come to be there: "programs: =<folder>:…".
Words program_folders_in(const std::string& said) {
  constexpr std::string_view k_programs = "programs: =";
  for (const std::string& line : split_lines(said))
    if (line.starts_with(k_programs)) return split(line.substr(k_programs.size()), ":");
  return {};
}

// What a compiler would run for a compile and for a link, asked with names of files that need not be there;
// and every file that would be run in their place if it were there.
Result<Paths> ask_host_compiler(const Path& compiler, const Environment& environment, System& system) {
  const std::string program = compiler.string();
  Paths found;
  for (const Words& more : {Words{"-c", "-x", "c++", "/dev/null", "-o", "dsbuild.o"},
                            Words{"-shared", "-x", "none", "/dev/null", "-o", "dsbuild.so"}}) {
    Words argv = {program, "-###"};
    argv.insert(argv.end(), more.begin(), more.end());
    DSBUILD_TRY(said, said_by(argv, environment, system));
    found.merge(files_named_in(said, system.files));
  }
  for (const char* name : {"as", "ld"}) {
    DSBUILD_TRY(answer, said_by({program, std::string("-print-prog-name=") + name}, environment, system));
    const std::string said = trim(answer);
    if (!said.empty() && said.find('\n') == std::string::npos) found.insert(said);  // by name alone: on PATH
  }
  DSBUILD_TRY(searching, said_by({program, "-print-search-dirs"}, environment, system));
  for (const Path folder : program_folders_in(searching))
    for (const char* name : {"as", "ld", "real-ld", "collect-ld", "cc1plus", "collect2"})
      if (folder.is_absolute()) found.insert((folder / name).string());
  return found;
}

// What `ask` gives, remembered for as long as the program and what configures it are the same files; a
// script's answer never is.
template <typename Ask>
Result<Paths> remembered_parts(const std::string& what, const Path& program, const Path& configuration,
                               System& system, FactStore& facts, const Ask& ask) {
  if (is_script(program, system.files, facts)) return ask();
  const std::string key = "programs of " + what;
  const std::string identity =
      identity_text(program, system.files) + " " + identity_text(configuration, system.files);
  const auto known = facts.find(key, identity);
  if (known) {
    const std::vector<std::string> lines = split_lines(*known);
    return Paths(lines.begin(), lines.end());
  }
  DSBUILD_TRY(found, ask());
  facts.put(key, identity, join({found.begin(), found.end()}, "\n"));
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

// A line of each part, and of each library that they load.
Result<std::string> text_of_parts(const std::string& what, const Paths& parts, const Environment& environment,
                                  System& system, FactStore& facts, DigestMemo& digests) {
  const std::string text = render(parts, environment, system, digests);
  DSBUILD_TRY(libraries, loaded_libraries(what, parts, text, environment, system, facts, digests));
  return text + render(libraries, environment, system, digests);
}

// What a compiler says to one more question, remembered for as long as it is made of the same parts.
template <typename Ask>
Result<std::string> remembered_answer(const std::string& what, const Words& argv, const std::string& parts,
                                      const Environment& environment, System& system, FactStore& facts,
                                      const Ask& ask) {
  const std::string key = what + " " + argv.front(), identity = sha256(parts);
  if (const auto known = facts.find(key, identity)) return *known;
  DSBUILD_TRY(said, ask(argv, environment, system));
  facts.put(key, identity, said);
  return said;
}

}  // namespace

const ToolText& ToolParts::of(const std::string& name) const {
  static const ToolText none;
  const auto found = by_name.find(name);
  return found == by_name.end() ? none : found->second;
}

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

bool scripts_answer_as_known(const std::vector<Toolkit>& toolkits, const std::optional<HostCompiler>& cxx,
                             System& system, FactStore& facts) {
  const auto compiler_does = [&](const std::optional<HostCompiler>& compiler) {
    return !compiler || !is_script(compiler->path, system.files, facts) ||
           compiler_answers_as_known(compiler->path, system, facts);
  };
  bool all_do = compiler_does(cxx);
  for (const Toolkit& toolkit : toolkits) {
    const bool does = !is_script(toolkit.compiler(), system.files, facts) ||
                      toolkit.family->answers_as_known(toolkit, system, facts);
    all_do = compiler_does(toolkit.host) && does && all_do;
  }
  return all_do;
}

Result<ToolText> parts_of_host_compiler(const Path& compiler, System& system, FactStore& facts,
                                        DigestMemo& digests) {
  const Environment environment = asking_environment(system, nullptr);
  DSBUILD_TRY(parts, remembered_parts(compiler.string(), compiler, compiler, system, facts,
                                      [&] { return ask_host_compiler(compiler, environment, system); }));
  parts.insert(compiler.string());
  ToolText tool;
  DSBUILD_TRY(text, text_of_parts(compiler.string(), parts, environment, system, facts, digests));
  tool.text = std::move(text);
  const auto asked = [&](const std::string& what, Words argv, auto&& ask) -> Result<std::string> {
    argv.insert(argv.begin(), compiler.string());
    return remembered_answer(what, argv, tool.text, environment, system, facts, ask);
  };
  DSBUILD_TRY(linker, asked("linker of", {"-Wl,--help"}, said_if_known));
  DSBUILD_TRY(assembler,
              asked("assembler of", {"-Wa,--help", "-c", "-x", "assembler", "/dev/null", "-o", "/dev/null"},
                    said_if_known));
  DSBUILD_TRY(including, asked("include folders of", {"-v", "-E", "-x", "c++", "/dev/null"}, said_by));
  DSBUILD_TRY(linking, asked("library folders of",
                             {"-###", "-shared", "-x", "none", "/dev/null", "-o", "dsbuild.so"}, said_by));
  DSBUILD_TRY(searching, asked("search folders of", {"-print-search-dirs"}, said_by));
  tool.links_tell_files = linker.find("--dependency-file") != std::string::npos;
  // A script may add -flto.
  tool.assembler_tells_files =
      including.find("-flto") == std::string::npos && assembler.find("--MD ") != std::string::npos;
  tool.folders = include_folders_in(including);
  for (const std::string& said : {linking, searching})
    for (const std::string& folder : library_folders_in(said))
      tool.folders.push_back(folder);
  return tool;
}

Result<ToolText> parts_of_toolkit(const Toolkit& toolkit, System& system, FactStore& facts,
                                  DigestMemo& digests) {
  const Environment environment = asking_environment(system, &toolkit);
  const std::string host = toolkit.host ? toolkit.host->path.string() : "";
  const Path configuration = toolkit.home / toolkit.family->configuration;
  DSBUILD_TRY(parts, remembered_parts(toolkit.compiler().string() + " with " + host, toolkit.compiler(),
                                      configuration, system, facts,
                                      [&] { return toolkit.family->parts(toolkit, environment, system); }));
  parts.insert(toolkit.compiler().string());
  ToolText tool;
  if (toolkit.host) {
    DSBUILD_TRY(host_parts, parts_of_host_compiler(toolkit.host->path, system, facts, digests));
    tool = std::move(host_parts);
    tool.assembler_tells_files = tool.assembler_tells_files && toolkit.family->host_option;
  }
  DSBUILD_TRY(text, text_of_parts(toolkit.compiler().string() + " with " + host, parts, environment, system,
                                  facts, digests));
  tool.text = text + tool.text;
  if (toolkit.family->include_question) {
    DSBUILD_TRY(said, remembered_answer("include folders of", toolkit.family->include_question(toolkit),
                                        tool.text, environment, system, facts, said_by));
    for (const std::string& folder : include_folders_in(said))
      tool.folders.push_back(folder);
  }
  return tool;
}

}  // namespace dsbuild
