#include "ninja/compile_commands.h"

#include "base/args.h"
#include "base/json.h"
#include "ninja/clang_flags.h"
#include "plan/real_paths.h"

namespace dsbuild {
namespace {

// Files of the build folder too.
RealPaths real_paths(const CompileCommandsInput& input) {
  auto folders = input.plan.links;
  for (const char* own : {k_objects_folder, k_headers_folder})
    folders.emplace_back(own, input.folder / own);
  return RealPaths(std::move(folders));
}

// What is compiled as CUDA is parsed for one architecture: the newest.
Args cuda_words(const Edge& edge, const Path& cuda_home) {
  Args words = {"-x", "cuda", "--cuda-path=" + cuda_home.string()};
  if (!edge.targets.empty()) words.push_back("--cuda-gpu-arch=" + edge.targets.rbegin()->machine().name());
  return words;
}

Json entry_of(const Edge& edge, const CompileCommandsInput& input, const RealPaths& real) {
  const std::string file = real.path(edge.inputs.front()), output = real.path(edge.output);
  const bool is_cuda = edge.kind == EdgeKind::cuda_compile;
  Args flags = compiler_words(input.plan, edge);
  Args arguments = {real.path(flags.front())};
  flags.erase(flags.begin());
  const auto add = [&](const Args& words) {
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
  const RealPaths real = real_paths(input);
  Json entries = Json::array();
  for (const Edge* edge : edges_by_output(whole.edges))
    if (edge->is_compile() && edge->inputs.front().starts_with(std::string(k_pack_folder) + "/"))
      entries.push_back(entry_of(*edge, input, real));
  return entries.dump(1) + "\n";
}

}  // namespace dsbuild
