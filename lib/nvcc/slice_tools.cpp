#include "nvcc/slice_tools.h"

#include <chrono>

#include "nvcc/arch_tagged_symbols.h"
#include "nvcc/compile_in_parts.h"

namespace dsbuild {

SliceTools::SliceTools(const StepUnit& unit, Engine& engine)
    : unit_(unit), engine_(engine), build_dir_(engine.files().absolute(".")) {}

Result<int> SliceTools::run_in_scratch(const Args& command) {
  return run(unit_.expand(command, unit_.stem), unit_.scratch, files_of(command));
}

// Commands name each file of the scratch folder by the unit's stand-in.
HermeticFiles SliceTools::files_of(const Args& command) const {
  HermeticFiles files;
  for (const std::string& word : command) {
    if (!word.starts_with(k_any_unit)) continue;
    const std::string name = unit_.expand({word}, unit_.stem).front();
    (engine_.files().kind(unit_.scratch / name) == FileKind::file ? files.inputs : files.outputs)
        .push_back(name);
  }
  for (const std::string& name : files.outputs)
    for (const std::string& end : unit_.step.outputs)
      if (name == unit_.stem + end) files.required.push_back(name);
  return files;
}

Result<int> SliceTools::run_in_build_folder(const Args& command) {
  return run(unit_.expand(command, unit_.in_scratch("")), unit_.step.place.folder);
}

Result<std::optional<std::string>> SliceTools::compile_in_parts(const Args& command,
                                                                const std::string& source_end) {
  const PathMap& place = unit_.step.place;
  Args words = unit_.expand(command, unit_.in_scratch(""));
  if (!place.empty())
    for (std::string& word : words)
      word = with_absolute_roots(word, build_dir_);
  return dsbuild::compile_in_parts({std::move(words), unit_.in_scratch(source_end), unit_.environment,
                                    place.folder, unit_.scratch, unit_.stem},
                                   engine_);
}

// The build folder's names of roots hold there alone.
Result<int> SliceTools::run(Args argv, const Path& folder, std::optional<HermeticFiles> hermetic) {
  if (!folder.empty())
    for (std::string& word : argv)
      word = with_absolute_roots(word, build_dir_);
  DSBUILD_TRY(result, engine_.run({{std::move(argv), unit_.environment, folder, std::chrono::hours(24)},
                                   std::move(hermetic)}));
  const std::string text = replace_all(result.out + result.err, unit_.scratch.string() + "/", "");
  engine_.print(shown(text));
  output_ += text;
  return result.exit_code;
}

std::string SliceTools::shown(const std::string& output) const {
  const std::string named = with_list(output, k_common_list, unit_.arch_list).value_or(output);
  return unit_.step.place.empty() ? named : unit_.step.place.with_given_names(named);
}

}  // namespace dsbuild
