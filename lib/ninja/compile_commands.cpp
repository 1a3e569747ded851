#include "ninja/compile_commands.h"

#include "base/json.h"
#include "ninja/clang_flags.h"

namespace dsbuild {
namespace {

using Words = std::vector<std::string>;

// Paths of the build folder, and of what its links stand for, as whoever is not in it names them.
class RealPaths {
 public:
  explicit RealPaths(const CompileCommandsInput& input) : places_(input.plan.links) {
    for (const char* own : {k_objects_folder, k_headers_folder})
      places_.emplace_back(own, input.folder / own);
  }

  std::string path(const std::string& path) const {
    for (const auto& [name, target] : places_) {
      if (path == name) return target.string();
      if (path.starts_with(name + "/")) return (target / path.substr(name.size() + 1)).string();
    }
    return path;
  }
  // A path, or an option with one behind it.
  std::string word(const std::string& word) const {
    for (const std::string option : {"-I", "-L"})
      if (word.starts_with(option)) return option + path(word.substr(option.size()));
    return path(word);
  }

 private:
  std::vector<std::pair<std::string, Path>> places_;
};

// What is compiled as CUDA is parsed for one architecture: the newest.
Words cuda_words(const Edge& edge, const Path& cuda_home) {
  Words words = {"-x", "cuda", "--cuda-path=" + cuda_home.string()};
  if (!edge.targets.empty()) words.push_back("--cuda-gpu-arch=" + edge.targets.rbegin()->machine().name());
  return words;
}

Json entry_of(const Edge& edge, const CompileCommandsInput& input, const RealPaths& real) {
  const std::string file = real.path(edge.inputs.front()), output = real.path(edge.output);
  const bool is_cuda = edge.kind == EdgeKind::cuda_compile;
  Words flags = compiler_words(input.plan, edge);
  Words arguments = {real.path(flags.front())};
  flags.erase(flags.begin());
  const auto add = [&](const Words& words) {
    for (const std::string& word : words)
      arguments.push_back(real.word(word));
  };
  if (is_cuda) add(cuda_words(edge, input.cuda_home));
  add(clang_flags(flags));
  add({"-c", file, "-o", output});
  return {
      {"directory", real.path(k_pack_folder)}, {"file", file}, {"arguments", arguments}, {"output", output}};
}

}  // namespace

std::string render_compile_commands(const CompileCommandsInput& input) {
  const BuildPlan whole = with_whole_commands(input.plan, input.sliced);
  const RealPaths real(input);
  Json entries = Json::array();
  for (const Edge* edge : edges_by_output(whole.edges))
    if (edge->is_compile() && edge->inputs.front().starts_with(std::string(k_pack_folder) + "/"))
      entries.push_back(entry_of(*edge, input, real));
  return entries.dump(1) + "\n";
}

}  // namespace dsbuild
