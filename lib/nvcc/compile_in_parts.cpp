#include "nvcc/compile_in_parts.h"

#include "base/args.h"
#include "nvcc/compiler_parts.h"

namespace dsbuild {
namespace {

class PartedCompile {
 public:
  PartedCompile(const CompileInParts& compile, Engine& engine)
      : compile_(compile),
        engine_(engine),
        names_{compile.name + ".parts.ii", compile.name + ".parts.s", compile.name + ".parts.o"} {}

  Result<std::optional<std::string>> object() {
    engine_.acquire_probe();
    DSBUILD_TRY(parts, ask());
    if (!parts) return std::nullopt;
    DSBUILD_TRY(is_text_there, run(preprocessor_words(), compile_.folder));
    if (!is_text_there) return std::nullopt;
    for (const auto& [name, file] : parts->linked)
      DSBUILD_CHECK(engine_.files().make_symlink(file, compile_.scratch / name));
    engine_.acquire_full();
    for (const CompilerPart& part : parts->parts) {
      DSBUILD_TRY(is_made, run(part.words, compile_.scratch,
                               HermeticFiles{part.inputs, {part.output}, {part.output}}));
      if (!is_made) return std::nullopt;
    }
    DSBUILD_TRY(bytes, engine_.files().read_file(compile_.scratch / names_.object));
    return std::optional(std::move(bytes));
  }

 private:
  Result<std::optional<CompilerParts>> ask() {
    DSBUILD_TRY(
        output,
        engine_.run({{question_for_parts(compile_.command, compile_.source, names_), compile_.environment,
                      asks_in_place(compile_.command) ? compile_.folder : compile_.scratch}}));
    return output.ok() ? parts_in(output.err, names_) : std::nullopt;
  }

  Args preprocessor_words() const {
    Args words;
    for (size_t i = 0; i < compile_.command.size(); ++i) {
      if (compile_.command[i] == "-o")
        ++i;
      else
        words.push_back(compile_.command[i] == "-c" ? "-E" : compile_.command[i]);
    }
    const Path text = compile_.scratch / names_.text;
    words.insert(words.end(), {"-o", engine_.files().absolute(text).string()});
    return words;
  }

  // Whether it ended well and said nothing.
  Result<bool> run(Args argv, const Path& folder, std::optional<HermeticFiles> hermetic = {}) {
    DSBUILD_TRY(ended, engine_.run({{std::move(argv), compile_.environment, folder, std::chrono::hours(24)},
                                    std::move(hermetic)}));
    return ended.ok() && ended.out.empty() && ended.err.empty();
  }

  const CompileInParts& compile_;
  Engine& engine_;
  const PartFiles names_;
};

}  // namespace

Result<std::optional<std::string>> compile_in_parts(const CompileInParts& compile, Engine& engine) {
  if (!engine.may_run_elsewhere() || !can_be_parted(compile.command)) return std::nullopt;
  return PartedCompile(compile, engine).object();
}

}  // namespace dsbuild
