#include "slices/preprocess.h"

#include <algorithm>
#include <set>

namespace dsbuild {
namespace {

constexpr std::string_view k_dryrun_mark = "#$ ";

// A command that prints a text.
using Pass = std::vector<std::string>;

std::optional<ProcessResult> run(const std::vector<std::string>& argv, const Environment& environment,
                                 System& system) {
  auto result = system.processes.run({argv, environment, {}, std::chrono::hours(24)});
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

// "compute_80" of "-gencode=arch=compute_80,code=sm_80": each is preprocessed once.
size_t count_virtual_archs(const CompileCommand& compile) {
  constexpr std::string_view k_option = "-gencode=arch=";
  std::set<std::string> archs;
  for (const std::string& word : compile)
    if (word.starts_with(k_option))
      archs.insert(word.substr(k_option.size(), word.find(',') - k_option.size()));
  return archs.size();
}

// Threads make no other passes, but the dry run of CUDA 11.8 prints only some of them then.
std::optional<ProcessResult> dry_run(const CompileCommand& compile, System& system) {
  std::vector<std::string> argv = without_outputs(compile);
  argv.erase(std::remove_if(argv.begin(), argv.end(),
                            [](const std::string& word) { return word.starts_with("--threads="); }),
             argv.end());
  argv.insert(argv.end(), {"-o", "dryrun.o", "--dryrun"});
  Environment environment = system.environment;
  environment.erase("NVCC_APPEND_FLAGS");  // what a user has in it is in the command already
  return run(argv, environment, system);
}

// nvcc prints its steps quoted for a shell; those that preprocess, up to where their text goes. None where
// they are not each virtual arch's and the host's.
std::vector<Pass> nvcc_passes(const CompileCommand& compile, System& system) {
  const auto answer = dry_run(compile, system);
  std::vector<Pass> passes;
  for (const std::string& line : split_lines(answer ? answer->err : "")) {
    const size_t output = line.rfind(" -o ");
    if (line.starts_with(k_dryrun_mark) && line.find(" -E -x c++ ") != std::string::npos &&
        output != std::string::npos)
      passes.push_back(shell_split(line.substr(k_dryrun_mark.size(), output - k_dryrun_mark.size())));
  }
  if (passes.size() != count_virtual_archs(compile) + 1) return {};
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
  // With comments: a warning may go by one.
  pass.insert(pass.end(), {"-C", "-MD", "-MF", depfile.string(), "-MT", target});
  auto result = run(pass, system.environment, system);
  const auto files_read = system.files.read_file(depfile);
  (void)system.files.remove_all(depfile);
  if (!result || !files_read || result->out.size() >= k_kept_output) return std::nullopt;
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
