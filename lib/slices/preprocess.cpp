#include "slices/preprocess.h"

#include <algorithm>

namespace dsbuild {
namespace {

// What ProcessRunner keeps: a text this long may be longer.
constexpr size_t k_longest_text = 64 << 20;

constexpr std::string_view k_dryrun_mark = "#$ ";

// A command that prints a text.
using Pass = std::vector<std::string>;

std::optional<ProcessResult> run(const std::vector<std::string>& argv, System& system) {
  auto result = system.processes.run({argv, system.environment, {}, std::chrono::hours(24)});
  if (!result || !result->ok()) return std::nullopt;
  return std::move(*result);
}

// The command without what writes: "-o FILE", and the depfile of the object.
CompileCommand without_outputs(const CompileCommand& compile) {
  CompileCommand words;
  for (size_t i = 0; i < compile.size(); ++i) {
    if (compile[i] == "-o" || compile[i] == "-MF" || compile[i] == "-MT") {
      ++i;
    } else if (compile[i] != "-MD") {
      words.push_back(compile[i]);
    }
  }
  return words;
}

// nvcc prints its steps quoted for a shell; those that preprocess, up to where their text goes.
std::vector<Pass> nvcc_passes(const CompileCommand& compile, System& system) {
  std::vector<std::string> argv = without_outputs(compile);
  argv.insert(argv.end(), {"-o", "dryrun.o", "--dryrun"});
  const auto answer = run(argv, system);
  std::vector<Pass> passes;
  for (const std::string& line : split_lines(answer ? answer->err : "")) {
    const size_t output = line.rfind(" -o ");
    if (line.starts_with(k_dryrun_mark) && line.find(" -E -x c++ ") != std::string::npos &&
        output != std::string::npos)
      passes.push_back(shell_split(line.substr(k_dryrun_mark.size(), output - k_dryrun_mark.size())));
  }
  return passes;
}

// None where they cannot be known.
std::vector<Pass> passes_of(CompilerKind kind, const CompileCommand& compile, System& system) {
  if (kind == CompilerKind::nvcc) return nvcc_passes(compile, system);
  Pass pass = without_outputs(compile);
  std::replace(pass.begin(), pass.end(), std::string("-c"), std::string("-E"));
  return {pass};
}

struct Preprocessed {
  std::string text;
  std::string depfile;
};

std::optional<Preprocessed> preprocess(Pass pass, const std::string& target, const Path& scratch,
                                       System& system) {
  const Path depfile = scratch.string() + ".pass.d";
  pass.insert(pass.end(), {"-MD", "-MF", depfile.string(), "-MT", target});
  auto result = run(pass, system);
  const auto files_read = system.files.read_file(depfile);
  (void)system.files.remove_all(depfile);
  if (!result || !files_read || result->out.size() >= k_longest_text) return std::nullopt;
  return Preprocessed{std::move(result->out), *files_read};
}

// As line markers end that name it: "./pch/a/torch.h".
std::string forced_include(const CompileCommand& command) {
  const auto word = std::find(command.begin(), command.end(), "-include");
  return word == command.end() || word + 1 == command.end() ? "" : *(word + 1) + "\"";
}

}  // namespace

std::optional<std::string> depfile_if_same_texts(CompilerKind kind, const CompileCommand& ours,
                                                 const CompileCommand& theirs, const std::string& target,
                                                 const Path& scratch, System& system) {
  const std::vector<Pass> our_passes = passes_of(kind, ours, system);
  const std::vector<Pass> their_passes = passes_of(kind, theirs, system);
  const std::string our_header = forced_include(ours), their_header = forced_include(theirs);
  if (our_passes.empty() || our_passes.size() != their_passes.size() ||
      our_header.empty() != their_header.empty())
    return std::nullopt;
  std::string depfile;
  for (size_t i = 0; i < our_passes.size(); ++i) {
    const auto mine = preprocess(our_passes[i], target, scratch, system);
    auto other = mine ? preprocess(their_passes[i], target, scratch, system) : std::nullopt;
    if (!other) return std::nullopt;
    if (our_header != their_header)
      other->text = replace_all(std::move(other->text), their_header, our_header);
    if (mine->text != other->text) return std::nullopt;
    depfile += mine->depfile;
  }
  return depfile;
}

}  // namespace dsbuild
