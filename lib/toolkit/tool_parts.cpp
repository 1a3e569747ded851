#include "toolkit/tool_parts.h"

#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "toolkit/nvcc_facts.h"

namespace dsbuild {
namespace {

using Words = std::vector<std::string>;
using Paths = std::set<std::string>;

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";
constexpr std::string_view k_dry_run_mark = "#$ ";

Result<ProcessResult> answer_of(const Words& argv, const Environment& environment, System& system) {
  return system.processes.run({argv, environment, {}, std::chrono::seconds(60)});
}

std::string said(const ProcessResult& answer) {
  return answer.out + "\n" + answer.err;
}

tl::unexpected<Error> does_not_answer(const Words& argv, const ProcessResult& answer) {
  const std::vector<std::string> lines = split(answer.err + answer.out, "\r\n");
  const std::string how =
      answer.timed_out ? "does not end" : "ends with exit code " + std::to_string(answer.exit_code);
  return fail(Exit::unmet, "tool_does_not_answer", argv.front(),
              shell_join({argv.begin() + 1, argv.end()}) + " " + how +
                  (lines.empty() ? "" : ": " + trim(printable(lines.front()))),
              "Run that by hand: dsbuild has to know what a compiler is made of, so it asks.");
}

// A tool that does not answer may be made of anything: what it was made of before tells nothing, so that
// nothing is remembered of it, and nothing is built with it.
Result<std::string> said_by(const Words& argv, const Environment& environment, System& system) {
  DSBUILD_TRY(answer, answer_of(argv, environment, system));
  if (!answer.ok()) return does_not_answer(argv, answer);
  return said(answer);
}

// The same of one that may not know the words, and then ends with a code: "".
Result<std::string> said_if_known(const Words& argv, const Environment& environment, System& system) {
  DSBUILD_TRY(answer, answer_of(argv, environment, system));
  if (answer.timed_out || answer.exit_code > 128) return does_not_answer(argv, answer);
  return answer.ok() ? said(answer) : "";
}

// "/usr/bin/x" of "/usr/bin/x", "-plugin-opt=/usr/bin/x", "COLLECT_LTO_WRAPPER=/usr/bin/x"; "" for others.
std::string path_in(const std::string& word) {
  const size_t slash = word.find('/');
  const bool is_value = slash != std::string::npos && (slash == 0 || word[slash - 1] == '=');
  return is_value ? word.substr(slash) : "";
}

Paths files_named_in(const std::string& text, const FileReader& files) {
  Paths found;
  for (const std::string& line : split_lines(text))
    for (const std::string& word : shell_split(line))
      if (const std::string path = path_in(word); !path.empty() && files.kind(path) == FileKind::file)
        found.insert(path);
  return found;
}

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

// Reads what nvcc would run: "#$ NAME=value" and "#$ program words".
class DryRun {
 public:
  explicit DryRun(const std::string& text) {
    for (const std::string& line : split_lines(text))
      if (line.starts_with(k_dry_run_mark)) take(line.substr(k_dry_run_mark.size()));
  }

  Paths parts(const FileReader& files) const {
    Paths found;
    for (const std::string& program : programs_)
      if (const auto path = find_program(files, program, value_of("PATH"))) found.insert(path->string());
    if (const std::string here = value_of("_HERE_"); !here.empty())
      found.insert({here + "/nvcc", here + "/nvcc.profile"});
    add_all_in(value_of("NVVMIR_LIBRARY_DIR"), files, found);
    for (const std::string& word : shell_split(value_of("INCLUDES"))) {
      // What cudafe++ writes includes these, and nvcc's depfile does not name them.
      const Path folder = word.starts_with("-I") ? word.substr(2) : "";
      add_all_in(folder / "crt", files, found);
      found.insert((folder / "fatbinary_section.h").string());
    }
    return found;
  }

 private:
  void take(const std::string& line) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos && line.find_first_of(" \"/") > equals) {
      variables_[line.substr(0, equals)] = line.substr(equals + 1);
      return;
    }
    const Words words = shell_split(line);
    if (!words.empty()) programs_.insert(replace_all(words.front(), "$CICC_PATH", value_of("CICC_PATH")));
  }
  static void add_all_in(const Path& folder, const FileReader& files, Paths& found) {
    const auto names = files.list(folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{})
      found.insert((folder / name).string());
  }
  std::string value_of(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? "" : found->second;
  }

  std::map<std::string, std::string> variables_;
  std::set<std::string> programs_;
};

Result<Paths> ask_nvcc_parts(const Toolkit& toolkit, const Environment& environment, System& system) {
  Words argv = {toolkit.nvcc().string()};
  if (toolkit.host) argv.insert(argv.end(), {"-ccbin", toolkit.host->path.string()});
  argv.insert(argv.end(), {"--dryrun", "-c", "dsbuild.cu", "-o", "dsbuild.o"});
  DSBUILD_TRY(said, said_by(argv, environment, system));
  Paths found = DryRun(said).parts(system.files);
  found.insert((toolkit.home / "bin" / "nvcc.profile").string());
  return found;
}

std::string identity_text(const Path& path, const FileReader& files) {
  const auto identity = files.identity(path);
  return identity ? identity->text() : "absent";
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

// Of questions, which need no folder for temporary files; that of builds is relative to the build folder.
Environment asking_environment(const System& system, const Toolkit* toolkit) {
  Environment environment = tool_environment(system.environment, toolkit);
  environment.erase("TMPDIR");
  return environment;
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

bool scripts_answer_as_known(const std::optional<Toolkit>& toolkit, const std::optional<HostCompiler>& cxx,
                             System& system, FactStore& facts) {
  const auto compiler_does = [&](const std::optional<HostCompiler>& compiler) {
    return !compiler || !is_script(compiler->path, system.files, facts) ||
           compiler_answers_as_known(compiler->path, system, facts);
  };
  const bool nvcc_does =
      !toolkit || !is_script(toolkit->nvcc(), system.files, facts) ||
      nvcc_answers_as_known(toolkit->nvcc(), system, tool_environment(system.environment, &*toolkit), facts);
  const bool host_does = !toolkit || compiler_does(toolkit->host);
  return nvcc_does && host_does && compiler_does(cxx);
}

Result<ToolText> parts_of_host_compiler(const Path& compiler, System& system, FactStore& facts,
                                        DigestMemo& digests) {
  const Environment environment = asking_environment(system, nullptr);
  DSBUILD_TRY(parts, remembered_parts(compiler.string(), compiler, compiler, system, facts,
                                      [&] { return ask_host_compiler(compiler, environment, system); }));
  parts.insert(compiler.string());
  ToolText tool;
  tool.text = render(parts, environment, system, digests);
  const auto asked = [&](const std::string& what, Words argv, auto&& ask) -> Result<std::string> {
    const std::string key = what + " " + compiler.string(), identity = sha256(tool.text);
    if (const auto known = facts.find(key, identity)) return *known;
    argv.insert(argv.begin(), compiler.string());
    DSBUILD_TRY(said, ask(argv, environment, system));
    facts.put(key, identity, said);
    return said;
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

Result<ToolText> parts_of_nvcc(const Toolkit& toolkit, System& system, FactStore& facts,
                               DigestMemo& digests) {
  const Environment environment = asking_environment(system, &toolkit);
  const std::string host = toolkit.host ? toolkit.host->path.string() : "";
  const Path profile = toolkit.home / "bin" / "nvcc.profile";
  DSBUILD_TRY(parts,
              remembered_parts(toolkit.nvcc().string() + " with " + host, toolkit.nvcc(), profile, system,
                               facts, [&] { return ask_nvcc_parts(toolkit, environment, system); }));
  parts.insert(toolkit.nvcc().string());
  ToolText tool;
  if (toolkit.host) {
    DSBUILD_TRY(host_parts, parts_of_host_compiler(toolkit.host->path, system, facts, digests));
    tool = std::move(host_parts);
  }
  tool.text = render(parts, environment, system, digests) + tool.text;
  return tool;
}

}  // namespace dsbuild
