#include "nvcc/step_tools.h"

#include <chrono>

#include "nvcc/list_names.h"

namespace dsbuild {

Result<int> StepTools::run_in_scratch(const Words& command) {
  return run(unit_.expand(command, unit_.stem), unit_.scratch);
}

Result<int> StepTools::run_in_build_folder(const Words& command) {
  return run(unit_.expand(command, unit_.in_scratch("")), unit_.step.place.folder);
}

// The build folder's names of roots hold there alone.
Result<int> StepTools::run(Words argv, const Path& folder) {
  if (!folder.empty())
    for (std::string& word : argv)
      word = with_absolute_roots(word, system_.files.absolute("."));
  DSBUILD_TRY(result,
              system_.processes.run({std::move(argv), unit_.environment, folder, std::chrono::hours(24)}));
  const std::string text = replace_all(result.out + result.err, unit_.scratch.string() + "/", "");
  say(text);
  said_ += text;
  turn_.add_peak(result.peak_memory_bytes);
  return result.exit_code;
}

void StepTools::say_again(const std::vector<Said>& said) {
  for (const Said& one : said)
    say(one.text);
}

void StepTools::say(const std::string& text) {
  const std::string named = with_list(text, k_common_list, unit_.arch_list).value_or(text);
  print_(unit_.step.place.empty() ? named : unit_.step.place.with_given_names(named));
}

}  // namespace dsbuild
