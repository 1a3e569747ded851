#include "nvcc/compile_in_parts.h"

#include <algorithm>

#include "base/text.h"
#include "inputs/layout.h"
#include "inputs/preprocessor_words.h"

namespace dsbuild {
namespace {

using Words = std::vector<std::string>;

// What names the folder of the compile in the object, or reads more than the text.
constexpr const char* k_not_parted[] = {"-g",      "-flto",       "-fplugin",  "-specs",
                                        "-pipe",   "-save-temps", "-fprofile", "-foffload",
                                        "-fdump-", "-ftime-",     "-fopenacc", "-fdirectives-only",
                                        "-fpch",   "-Wa,",        "@"};

// Without optimisation gcc puts a nop where a line begins, and lines of macros are other ones in the text.
bool is_optimised(const Words& command) {
  const auto last = std::find_if(command.rbegin(), command.rend(),
                                 [](const std::string& word) { return word.starts_with("-O"); });
  return last != command.rend() && *last != "-O0" && *last != "-Og";
}

bool is_parted(const Words& command) {
  return is_optimised(command) && std::ranges::none_of(command, [](const std::string& word) {
           return std::ranges::any_of(k_not_parted,
                                      [&](const char* begin) { return word.starts_with(begin); });
         });
}

// Without debug information, names of folders are the preprocessor's matter.
bool maps_a_prefix(const std::string& word) {
  return word.starts_with("-f") && word.find("-prefix-map=") != std::string::npos;
}

// Without source, output and depfile.
Words compiler_words(const Words& command, const std::string& source) {
  static const Words with_a_word = {"-o", "-MF", "-MT", "-MQ", "-x"};
  const Words alone = {"-c", "-MD", "-MMD", "-MP", source};
  Words left;
  for (size_t i = 0; i < command.size(); ++i) {
    if (std::ranges::find(with_a_word, command[i]) != with_a_word.end())
      ++i;
    else if (std::ranges::find(alone, command[i]) == alone.end() && !maps_a_prefix(command[i]))
      left.push_back(command[i]);
  }
  return words_behind_preprocessor(left);
}

struct Parts {
  Words cc1plus, as;
};

// Of what the driver says that it would run (-###): two lines that begin with a blank.
std::optional<Parts> parts_in(const std::string& said, const std::string& assembly) {
  std::vector<Words> commands;
  for (const std::string& line : split_lines(said))
    if (line.starts_with(" ")) commands.push_back(shell_split(line));
  if (commands.size() != 2 || commands[0].size() < 3 || commands[1].size() < 3) return std::nullopt;
  Parts parts{std::move(commands[0]), std::move(commands[1])};
  if (Path(parts.cc1plus.front()).filename() != "cc1plus" || Path(parts.as.front()).filename() != "as")
    return std::nullopt;
  const auto output = std::ranges::find(parts.cc1plus, "-o");
  if (output == parts.cc1plus.end() || output + 1 == parts.cc1plus.end()) return std::nullopt;
  const std::string temporary = *(output + 1);
  for (Words* words : {&parts.cc1plus, &parts.as}) {
    std::ranges::replace(*words, temporary, assembly);
    const auto names_a_path = [](const std::string& word) { return word.find('/') != std::string::npos; };
    if (std::any_of(words->begin() + 1, words->end(), names_a_path)) return std::nullopt;
  }
  return parts;
}

class PartedCompile {
 public:
  PartedCompile(const CompileInParts& compile, Engine& engine)
      : compile_(compile),
        engine_(engine),
        text_(compile.name + ".parts.ii"),
        assembly_(compile.name + ".parts.s"),
        object_(compile.name + ".parts.o") {}

  Result<std::optional<std::string>> object() {
    engine_.acquire_probe();
    DSBUILD_TRY(parts, ask());
    if (!parts) return std::nullopt;
    DSBUILD_TRY(is_text_there, run(preprocessor_words(), compile_.folder));
    if (!is_text_there) return std::nullopt;
    engine_.acquire_full();
    DSBUILD_TRY(is_compiled,
                run(parts->cc1plus, compile_.scratch, HermeticFiles{{text_}, {assembly_}, {assembly_}}));
    if (!is_compiled) return std::nullopt;
    DSBUILD_TRY(is_assembled,
                run(parts->as, compile_.scratch, HermeticFiles{{assembly_}, {object_}, {object_}}));
    if (!is_assembled) return std::nullopt;
    DSBUILD_TRY(bytes, engine_.files().read_file(compile_.scratch / object_));
    return std::optional(std::move(bytes));
  }

 private:
  Result<std::optional<Parts>> ask() {
    Words words = compiler_words(compile_.command, compile_.source);
    words.insert(words.end(), {"-###", "-x", "c++-cpp-output", "-c", text_, "-o", object_});
    DSBUILD_TRY(said, engine_.run({{std::move(words), compile_.environment, compile_.scratch}}));
    return said.ok() ? parts_in(said.err, assembly_) : std::nullopt;
  }

  Words preprocessor_words() const {
    Words words;
    for (size_t i = 0; i < compile_.command.size(); ++i) {
      if (compile_.command[i] == "-o")
        ++i;
      else
        words.push_back(compile_.command[i] == "-c" ? "-E" : compile_.command[i]);
    }
    const Path text = compile_.scratch / text_;
    words.insert(words.end(), {"-o", engine_.files().absolute(text).string()});
    return words;
  }

  // Whether it ended well and said nothing.
  Result<bool> run(Words argv, const Path& folder, std::optional<HermeticFiles> hermetic = {}) {
    DSBUILD_TRY(ended, engine_.run({{std::move(argv), compile_.environment, folder, std::chrono::hours(24)},
                                    std::move(hermetic)}));
    return ended.ok() && ended.out.empty() && ended.err.empty();
  }

  const CompileInParts& compile_;
  Engine& engine_;
  const std::string text_, assembly_, object_;
};

}  // namespace

Result<std::optional<std::string>> compile_in_parts(const CompileInParts& compile, Engine& engine) {
  if (!engine.may_run_elsewhere() || !is_parted(compile.command)) return std::nullopt;
  return PartedCompile(compile, engine).object();
}

}  // namespace dsbuild
