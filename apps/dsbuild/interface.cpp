#include "interface.h"

#include <algorithm>

namespace dsbuild {
namespace {

constexpr size_t k_example_columns = 48;

}  // namespace

bool OptionInfo::has_name(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<Note>& notes() {
  static const std::vector<Note> texts = {
      {"Archs",
       "8.0, 80, sm_80, compute_80, 8.0+PTX, 9.0a, 100f, Ampere, native, all, all-major; separated by ; , or "
       "blanks."},
      {"Variables",
       "DS_BUILD_OPS, DS_BUILD_<OP>, TORCH_CUDA_ARCH_LIST, CUDA_HOME, MAX_JOBS, CXX, NO_COLOR … "
       "(docs/cli.md)."},
      {"Exit codes", "0 done, 1 a step failed, 2 usage, 3 the request cannot be met, 75 lock time-out."},
  };
  return texts;
}

std::string render_examples(const std::vector<Example>& examples) {
  std::string text = "Examples:\n";
  for (const Example& example : examples) {
    std::string line = std::string("  ") + example.line;
    line.resize(std::max(line.size() + 2, k_example_columns), ' ');
    text += line + example.what + "\n";
  }
  return text;
}

std::vector<Example> first_examples() {
  std::vector<Example> chosen;
  for (const CommandRow& row : commands()) {
    const size_t wanted = row.name == "build" ? 2 : 1;
    chosen.insert(chosen.end(), row.examples.begin(),
                  row.examples.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, row.examples.size())));
  }
  return chosen;
}

}  // namespace dsbuild
