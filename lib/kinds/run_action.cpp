#include "kinds/run_action.h"

#include <algorithm>
#include <map>

#include "bundle/verify.h"
#include "hip/bundle_step.h"
#include "hip/hipify_step.h"
#include "nvcc/nvcc_comparison.h"
#include "nvcc/run_whole_step.h"
#include "nvcc/step_tools.h"

namespace dsbuild {
namespace {

// action KIND TOOLS OUTPUT …
constexpr size_t k_output_place = 2, k_before_words = 3;

tl::unexpected<Error> refuse(const Words& words) {
  return fail(Exit::usage, "bad_option", "action", "not an action: " + shell_join(words),
              "Actions are run by build.ninja alone.");
}

// action verify - check/<op>.ok check/<op>.json: the op's objects and library against its plan.
Result<StepEnd> verify(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                       const Print& print) {
  if (words.size() != k_before_words + 1) return refuse(words);
  FileSystem& files = system.files;
  const std::string &stamp = words[k_output_place], &expected_file = words[k_before_words];
  turn.wait_to_work();
  DSBUILD_TRY(text, files.read_file(expected_file));
  DSBUILD_TRY(expected, parse_expected(text, expected_file));
  DSBUILD_TRY(differences, verify_op(expected, ".", files));
  for (const Difference& difference : differences)
    print("error: " + printable(difference.what) + "\n");
  if (!differences.empty()) return StepEnd{static_cast<int>(Exit::failed), MadeOf::nothing_said};
  DSBUILD_CHECK(files.write_if_different(stamp, "ok\n"));
  FilesRead read{{expected_file, expected.library}, {}};
  for (const ExpectedObject& object : expected.objects)
    read.files.push_back(object.file);
  DSBUILD_CHECK(action.write(action.describe(read), {stamp}));
  return StepEnd{0, MadeOf::tools};
}

Result<int> run_tool(const Words& command, std::string& said, System& system, MemoryTurn& turn,
                     const Print& print) {
  turn.wait_to_work();
  DSBUILD_TRY(result, system.processes.run({command, system.environment, {}, std::chrono::hours(24)}));
  said = result.out + result.err;
  print(said);
  turn.add_peak(result.peak_memory_bytes);
  return result.exit_code;
}

// action run TOOLS OUTPUT [text] -- COMMAND: when there is memory for it.
Result<StepEnd> run_when_there_is_memory(const Words& words, ActionRun& action, MemoryTurn& turn,
                                         System& system, const Print& print) {
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end == words.end() || end + 1 == words.end()) return refuse(words);
  const bool is_known_by_text = words[k_before_words] == k_known_by_text;
  if (end - words.begin() != static_cast<std::ptrdiff_t>(k_before_words + (is_known_by_text ? 1 : 0)))
    return refuse(words);
  if (is_known_by_text) turn.wait_to_look();
  const auto run = [&](const Words& command, std::string& said) {
    return run_tool(command, said, system, turn, print);
  };
  return run_whole_step({action.output(), {end + 1, words.end()}, is_known_by_text}, action, system,
                        {run, print});
}

// action slice TOOLS OUTPUT STEP_FILE -- [SOURCE GENCODE…]
Result<StepEnd> run_slice(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                          const Print& print) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto number = static_cast<size_t>(end - words.begin());
  if (end == words.end() || number != k_before_words + 1) return refuse(words);
  SliceStep step{words[k_before_words], action.output(), {}, {}};
  if (end + 1 != words.end()) {
    step.source = *(end + 1);
    step.gencodes.assign(end + 2, words.end());
  }
  return run_slice_step(step, action, turn, system, print);
}

// action compare TOOLS STAMP SOURCE NVCC'S_OBJECT IMAGES_OBJECT HOST_OBJECT STEP_FILE…
Result<StepEnd> compare(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                        const Print& print) {
  if (words.size() <= k_before_words + 4) return refuse(words);
  const auto from = words.begin() + k_before_words;
  const NvccComparison step{*from, {*(from + 1), *(from + 2), *(from + 3)}, Words(from + 4, words.end())};
  DSBUILD_TRY(difference, compare_with_nvcc(step, turn, system, print));
  if (!difference.empty())
    return fail(Exit::failed, "not_as_nvcc", step.objects.images.string(),
                "slices do not make what nvcc makes: " + difference, "Build with --backend nvcc.");
  DSBUILD_CHECK(system.files.write_if_different(action.output(), "the same\n"));
  DSBUILD_CHECK(action.write(action.describe({Words(from, words.end()), {}}), {action.output()}));
  return StepEnd{0, MadeOf::tools};
}

// action bundle TOOLS OUTPUT HOST_OBJECT IMAGE… -- ASSEMBLER ENTRY…
// As many entries as there are objects; the rest are the assembler's words.
Result<StepEnd> bundle(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                       const Print& print) {
  const auto from = words.begin() + k_before_words, end = std::find(from, words.end(), "--");
  const auto objects = end - from;
  if (objects < 2 || words.end() - end <= objects + 1) return refuse(words);
  const auto entries = words.end() - objects;
  const BundleStep step{action.output(), *from, {from + 1, end}, {entries, words.end()}, {end + 1, entries}};
  DSBUILD_TRY(code, run_bundle_step(step, turn, system, print));
  if (code != 0) return StepEnd{code, MadeOf::nothing_said};
  DSBUILD_CHECK(action.write(action.describe({Words(from, end), {}}), {action.output()}));
  return StepEnd{0, MadeOf::tools};
}

// action hipify TOOLS OUTPUT -- PYTHON PACKAGE [-IFOLDER…] SOURCE…
Result<StepEnd> hipify(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                       const Print& print) {
  constexpr size_t k_python_place = k_before_words + 1, k_package_place = k_python_place + 1;
  if (words.size() <= k_package_place + 1 || words[k_before_words] != "--") return refuse(words);
  HipifyStep step{action.output(), words[k_python_place], words[k_package_place], {}, {}};
  for (auto word = words.begin() + k_package_place + 1; word != words.end(); ++word)
    (word->starts_with("-I") ? step.include_flags : step.sources).push_back(*word);
  DSBUILD_TRY(made_of, run_hipify_step(step, action, turn, system, print));
  const bool has_failed = made_of == MadeOf::nothing_said;
  return StepEnd{has_failed ? static_cast<int>(Exit::failed) : 0, made_of};
}

using RunKind = Result<StepEnd> (*)(const Words& words, ActionRun& action, MemoryTurn& turn, System& system,
                                    const Print& print);

RunKind find_kind(const std::string& name) {
  static const std::map<std::string, RunKind> kinds = {
      {"slice", run_slice}, {"run", run_when_there_is_memory},
      {"verify", verify},   {"compare", compare},
      {"bundle", bundle},   {"hipify", hipify}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? nullptr : found->second;
}

}  // namespace

Result<StepEnd> run_action(const Words& words, System& system, const Print& print) {
  const RunKind run = words.size() > k_before_words ? find_kind(words.front()) : nullptr;
  if (!run) return refuse(words);
  ActionRun action(words, system);
  MemoryTurn turn(system.environment, action.output());
  if (action.holds()) {
    turn.end(MadeOf::record);
    return StepEnd{0, MadeOf::record};
  }
  action.begin();
  DSBUILD_TRY(end, run(words, action, turn, system, print));
  if (end.code == 0) turn.end(end.made_of);
  return end;
}

}  // namespace dsbuild
