#include "nvcc/compiler_parts.h"

#include <algorithm>

#include "inputs/preprocessor_words.h"
#include "nvcc/nvcc_commands.h"

namespace dsbuild {
namespace {

// What names the folder of the compile in the object, or reads more than the text.
constexpr const char* k_not_parted[] = {"-g",      "-flto",       "-fplugin",  "-specs",
                                        "-pipe",   "-save-temps", "-fprofile", "-foffload",
                                        "-fdump-", "-ftime-",     "-fopenacc", "-fdirectives-only",
                                        "-fpch",   "-Wa,",        "@"};

bool is_optimised(const Args& command) {
  const auto last = std::find_if(command.rbegin(), command.rend(),
                                 [](const std::string& word) { return word.starts_with("-O"); });
  return last != command.rend() && *last != "-O0" && *last != "-Og";
}

// Without debug information, names of folders are the preprocessor's matter.
bool maps_a_prefix(const std::string& word) {
  return word.starts_with("-f") && word.find("-prefix-map=") != std::string::npos;
}

// Without output and depfile, as the driver is told of them.
Args without_outputs(const Args& command) {
  static const Args with_a_word = {"-o", "-MF", "-MT", "-MQ"};
  static const Args alone = {"-MD", "-MMD", "-MP"};
  Args left;
  for (size_t i = 0; i < command.size(); ++i) {
    if (command[i] == "-Xclang" && i + 1 < command.size())
      left.insert(left.end(), {command[i], command[i + 1]}), ++i;
    else if (has_word(with_a_word, command[i]))
      ++i;
    else if (!has_word(alone, command[i]))
      left.push_back(command[i]);
  }
  return left;
}

// The compile of the text: gcc tells its parts by the language of its input.
Args question_to_gcc(const Args& command, const std::string& source, const PartFiles& files) {
  Args words;
  for (const std::string& word : words_behind_preprocessor(without_outputs(command)))
    if (word != "-c" && word != source && !maps_a_prefix(word)) words.push_back(word);
  if (const auto language = std::ranges::find(words, "-x");
      language != words.end() && language + 1 != words.end())
    words.erase(language, language + 2);
  words.insert(words.end(), {"-###", "-x", "c++-cpp-output", "-c", files.text, "-o", files.object});
  return words;
}

bool is_of(const Args& job, const char* program) {
  return Path(job.front()).filename() == program;
}

std::optional<CompilerParts> parts_of_gcc(Args& compiler, Args& assembler, const PartFiles& files) {
  const std::string temporary = value_of(compiler, "-o");
  if (temporary.empty()) return std::nullopt;
  for (Args* words : {&compiler, &assembler})
    std::ranges::replace(*words, temporary, files.middle);
  return CompilerParts{{{std::move(compiler), {files.text}, files.middle},
                        {std::move(assembler), {files.middle}, files.object}},
                       {}};
}

// Options of cc1 with a word more that its preprocessor alone reads.
bool is_for_text_alone(const std::string& word) {
  static const Args options = {"-internal-isystem", "-internal-externc-isystem", "-idirafter", "-iquote",
                               "-resource-dir",     "-dependency-file",          "-MT"};
  return has_word(options, word);
}
// Names of this machine's folders, which debug information has.
bool names_a_folder_for_debugging(const std::string& word) {
  return word.starts_with("-fdebug-compilation-dir=") || word.starts_with("-fcoverage-compilation-dir=") ||
         maps_a_prefix(word);
}

// cc1 of a whole compile, given the text: so it keeps the name of the source, which the object has, and the
// libraries of device code, which a compile of text would not be given.
std::optional<CompilerPart> cc1_of_text(const Args& cc1, const PartFiles& files, const std::string& output,
                                        std::map<std::string, Path>& linked) {
  CompilerPart part{{}, {files.text}, output};
  const Args words = words_behind_preprocessor(cc1);
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_for_text_alone(words[i])) {
      ++i;
    } else if (words[i] == "-mlink-builtin-bitcode" && i + 1 < words.size()) {
      const Path library = words[++i];
      const std::string name = library.filename().string();
      if (const auto [there, is_new] = linked.emplace(name, library); !is_new && there->second != library)
        return std::nullopt;
      part.words.insert(part.words.end(), {"-mlink-builtin-bitcode", name});
      part.inputs.push_back(name);
    } else if (!names_a_folder_for_debugging(words[i]) && words[i] != "-sys-header-deps") {
      part.words.push_back(words[i]);
    }
  }
  const auto language = std::ranges::find(part.words, "-x");
  const auto made = std::ranges::find(part.words, "-o");
  if (part.words.end() - language != 3 || *(language + 1) != "hip" || made + 1 >= language)
    return std::nullopt;
  *(made + 1) = output;
  *(language + 1) = "hip-cpp-output";
  *(language + 2) = files.text;
  return part;
}

// The host's code is one part; code of a GPU is linked.
std::optional<CompilerParts> parts_of_clang(const std::vector<Args>& jobs, const PartFiles& files) {
  const bool is_linked = jobs.size() == 2;
  if (jobs.size() > 2 || (is_linked && !is_of(jobs[1], "lld"))) return std::nullopt;
  CompilerParts made;
  auto cc1 = cc1_of_text(jobs[0], files, is_linked ? files.middle : files.object, made.linked);
  if (!cc1) return std::nullopt;
  made.parts.push_back(std::move(*cc1));
  if (!is_linked) return made;
  Args link = jobs[1];
  std::ranges::replace(link, value_of(jobs[0], "-o"), files.middle);
  std::ranges::replace(link, value_of(jobs[1], "-o"), files.object);
  made.parts.push_back({std::move(link), {files.middle}, files.object});
  return made;
}

bool names_files_of_elsewhere(const CompilerPart& part) {
  return std::any_of(part.words.begin() + 1, part.words.end(),
                     [](const std::string& word) { return word.find('/') != std::string::npos; });
}

}  // namespace

bool can_be_parted(const Args& command) {
  return is_optimised(command) && std::ranges::none_of(command, [](const std::string& word) {
           return std::ranges::any_of(k_not_parted,
                                      [&](const char* begin) { return word.starts_with(begin); });
         });
}

bool asks_in_place(const Args& command) {
  return value_of(command, "-x") == "hip";
}

Args question_for_parts(const Args& command, const std::string& source, const PartFiles& files) {
  if (!asks_in_place(command)) return question_to_gcc(command, source, files);
  Args words = without_outputs(command);
  words.insert(words.end(), {"-###", "-o", files.object});
  return words;
}

// A job is a line that begins with a blank. Clang has one more before what it does without a new process.
std::optional<CompilerParts> parts_in(const std::string& answer, const PartFiles& files) {
  std::vector<Args> jobs;
  for (const std::string& line : split_lines(answer))
    if (line.starts_with(" ")) jobs.push_back(shell_split(line));
  std::erase_if(jobs, [](const Args& job) { return job.empty() || job.front() == "(in-process)"; });
  std::optional<CompilerParts> found;
  if (!jobs.empty() && jobs[0].size() > 1 && jobs[0][1] == "-cc1")
    found = parts_of_clang(jobs, files);
  else if (jobs.size() == 2 && is_of(jobs[0], "cc1plus") && is_of(jobs[1], "as"))
    found = parts_of_gcc(jobs[0], jobs[1], files);
  if (found && std::ranges::any_of(found->parts, names_files_of_elsewhere)) return std::nullopt;
  return found;
}

}  // namespace dsbuild
