#include "nvcc/preprocess.h"

#include <algorithm>

#include "base/args.h"
#include "base/text.h"

namespace dsbuild {
namespace {

// As line markers end that name it: "./pch/a/torch.h\"".
std::string forced_include(const Args& command) {
  const auto word = std::find(command.begin(), command.end(), "-include");
  return word == command.end() || word + 1 == command.end() ? "" : *(word + 1) + "\"";
}

}  // namespace

Args preprocess_command(const Args& compile) {
  Args words;
  for (size_t i = 0; i < compile.size(); ++i) {
    if (compile[i] == "-o")
      ++i;
    else
      words.push_back(compile[i] == "-c" ? "-E" : compile[i]);
  }
  words.emplace_back("-C");
  return words;
}

std::optional<std::string> preprocessed_text(const Args& compile, Result<ProcessResult> result) {
  if (!result || !result->ok() || result->out.size() >= k_kept_output) return std::nullopt;
  const std::string header = forced_include(compile);
  return header.empty() ? std::move(result->out) : replace_all(std::move(result->out), header, "\"");
}

}  // namespace dsbuild
