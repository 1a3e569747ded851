#include "interface.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace dsbuild {
namespace {

constexpr size_t k_example_columns = 48;

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info{{}, option.get_type_size() == 0 ? "" : option.get_type_name(), option.get_description()};
  for (const std::string& name : option.get_lnames())
    info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames())
    info.names.push_back("-" + name);
  if (option.get_positional()) info.names = {option.get_name(true)};
  return info;
}

std::vector<OptionInfo> describe_options(const CLI::App& app, bool operands) {
  std::vector<OptionInfo> infos;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() == operands) infos.push_back(describe(*option));
  return infos;
}

// Every command takes --help and --help-all: those of the program stand for all of them.
std::vector<OptionInfo> own_options(const CLI::App& command) {
  std::vector<OptionInfo> options = describe_options(command, false);
  const auto is_help = [](const OptionInfo& option) {
    return option.has_name("--help") || option.has_name("--help-all");
  };
  options.erase(std::remove_if(options.begin(), options.end(), is_help), options.end());
  return options;
}

}  // namespace

bool OptionInfo::has_name(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Interface describe_interface(const CLI::App& app) {
  Interface interface{app.get_description(), describe_options(app, false), {}};
  for (const CommandRow& row : commands()) {
    if (row.hidden) continue;
    const CLI::App& command = *app.get_subcommand(row.name);
    interface.commands.push_back(
        {row.name, row.help, row.examples, own_options(command), describe_options(command, true)});
  }
  return interface;
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
    const size_t wanted = row.run == run_build ? 2 : 1;
    chosen.insert(chosen.end(), row.examples.begin(),
                  row.examples.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, row.examples.size())));
  }
  return chosen;
}

}  // namespace dsbuild
