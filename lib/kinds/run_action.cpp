#include "kinds/run_action.h"

#include <algorithm>
#include <map>

#include "bundle/verify.h"
#include "hip/bundle_step.h"
#include "hip/hipify_step.h"
#include "nvcc/nvcc_comparison.h"
#include "nvcc/run_command_action.h"
#include "nvcc/run_step.h"

namespace dsbuild {
namespace {

// action KIND TOOLS OUTPUT …
constexpr size_t k_output_place = 2, k_before_words = 3;

tl::unexpected<Error> refuse(const Args& words) {
  return fail(Exit::usage, "bad_option", "action", "not an action: " + shell_join(words),
              "Actions are run by build.ninja alone.");
}

// Checks files, which costs less than a cache: a stamp says that they passed.
class CheckStepper : public Stepper {
 public:
  using Check = std::function<Result<Made>()>;
  CheckStepper(std::string stamp, Check check) : stamp_(std::move(stamp)), check_(std::move(check)) {}

  std::string path_of(const std::string&) const override { return stamp_; }
  std::vector<std::string> output_names() const override { return {"stamp"}; }
  bool is_cached() const override { return false; }
  Result<Made> make(Engine&) override { return check_(); }

 private:
  const std::string stamp_;
  const Check check_;
};

Made stamped(const std::string& text, const Args& files, Engine& engine) {
  return {0, ResultOrigin::tools, {{"stamp", text}}, engine.action().make_record({files, {}}), {}};
}

// action verify - check/<op>.ok check/<op>.json: the op's objects and library against its plan.
Result<StepEnd> verify(const Args& words, Engine& engine) {
  if (words.size() != k_before_words + 1) return refuse(words);
  const std::string& expected_file = words[k_before_words];
  CheckStepper stepper(words[k_output_place], [&]() -> Result<Made> {
    engine.acquire_full();
    engine.hold_full();
    DSBUILD_TRY(text, engine.files().read_file(expected_file));
    DSBUILD_TRY(expected, parse_expected(text, expected_file));
    DSBUILD_TRY(differences, verify_op(expected, ".", engine.files()));
    std::string said;
    for (const Difference& difference : differences)
      said += (difference.is_warning ? "warning: " : "error: ") + printable(difference.what) + "\n";
    engine.print(said);
    if (!std::ranges::all_of(differences, &Difference::is_warning))
      return Made::failed(static_cast<int>(Exit::failed));
    Args read = {expected_file, expected.library};
    for (const ExpectedObject& object : expected.objects)
      read.push_back(object.file);
    Made made = stamped("ok\n", read, engine);
    add_tool_output(made.record, k_verifier, std::move(said));
    return made;
  });
  return engine.drive(stepper);
}

// action run TOOLS OUTPUT [text] -- COMMAND
Result<StepEnd> run_whole(const Args& words, Engine& engine) {
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end == words.end() || end + 1 == words.end()) return refuse(words);
  const bool is_known_by_text = words[k_before_words] == k_known_by_text;
  if (end - words.begin() != static_cast<std::ptrdiff_t>(k_before_words + (is_known_by_text ? 1 : 0)))
    return refuse(words);
  return run_command_action({words[k_output_place], {end + 1, words.end()}, is_known_by_text}, engine);
}

// action slice TOOLS OUTPUT STEP_FILE -- [SOURCE GENCODE…]
Result<StepEnd> run_slice(const Args& words, Engine& engine) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto number = static_cast<size_t>(end - words.begin());
  if (end == words.end() || number != k_before_words + 1) return refuse(words);
  SliceStep step{words[k_before_words], words[k_output_place], {}, {}};
  if (end + 1 != words.end()) {
    step.source = *(end + 1);
    step.gencodes.assign(end + 2, words.end());
  }
  return run_slice_step(step, engine);
}

// action compare TOOLS STAMP SOURCE NVCC'S_OBJECT IMAGES_OBJECT HOST_OBJECT STEP_FILE…
Result<StepEnd> compare(const Args& words, Engine& engine) {
  if (words.size() <= k_before_words + 4) return refuse(words);
  const auto from = words.begin() + k_before_words;
  const NvccComparison step{*from, {*(from + 1), *(from + 2), *(from + 3)}, Args(from + 4, words.end())};
  CheckStepper stepper(words[k_output_place], [&]() -> Result<Made> {
    DSBUILD_TRY(difference, compare_with_nvcc(step, engine));
    if (!difference.empty())
      return fail(Exit::failed, "not_as_nvcc", step.objects.images.string(),
                  "slices do not make what nvcc makes: " + difference, "Build with --backend nvcc.");
    return stamped("the same\n", {from, words.end()}, engine);
  });
  return engine.drive(stepper);
}

// action bundle TOOLS OUTPUT HOST_OBJECT IMAGE… -- ASSEMBLER ENTRY…
// As many entries as there are objects; the rest are the assembler's words.
Result<StepEnd> bundle(const Args& words, Engine& engine) {
  const auto from = words.begin() + k_before_words, end = std::find(from, words.end(), "--");
  const auto objects = end - from;
  if (objects < 2 || words.end() - end <= objects + 1) return refuse(words);
  const auto entries = words.end() - objects;
  return run_bundle_step(
      {words[k_output_place], *from, {from + 1, end}, {entries, words.end()}, {end + 1, entries}}, engine);
}

// action hipify TOOLS OUTPUT -- PYTHON PACKAGE [-IFOLDER…] SOURCE…
Result<StepEnd> hipify(const Args& words, Engine& engine) {
  constexpr size_t k_python_place = k_before_words + 1, k_package_place = k_python_place + 1;
  if (words.size() <= k_package_place + 1 || words[k_before_words] != "--") return refuse(words);
  HipifyStep step{words[k_output_place], words[k_python_place], words[k_package_place], {}, {}};
  for (auto word = words.begin() + k_package_place + 1; word != words.end(); ++word)
    (word->starts_with("-I") ? step.include_flags : step.sources).push_back(*word);
  return run_hipify_step(step, engine);
}

using RunKind = Result<StepEnd> (*)(const Args& words, Engine& engine);

RunKind find_kind(const std::string& name) {
  static const std::map<std::string, RunKind> kinds = {{"slice", run_slice}, {"run", run_whole},
                                                       {"verify", verify},   {"compare", compare},
                                                       {"bundle", bundle},   {"hipify", hipify}};
  const auto found = kinds.find(name);
  return found == kinds.end() ? nullptr : found->second;
}

}  // namespace

Result<StepEnd> run_action(const Args& words, System& system, Runner& runner, const Print& print,
                           ActionRun::Cache cache) {
  const RunKind run = words.size() > k_before_words ? find_kind(words.front()) : nullptr;
  if (!run) return refuse(words);
  ActionRun action(words, system, cache);
  MemoryTurn turn(system.environment, action.output());
  if (cache == ActionRun::Cache::used && action.is_up_to_date()) {
    turn.end(ResultOrigin::record);
    return StepEnd{0, ResultOrigin::record};
  }
  action.begin();
  Engine engine(action, turn, system, runner, print);
  if (cache == ActionRun::Cache::unused) engine.keep_nothing();
  DSBUILD_TRY(end, run(words, engine));
  const bool is_elsewhere = end.made_of == ResultOrigin::tools && engine.ran_elsewhere();
  if (is_elsewhere) end.made_of = ResultOrigin::tools_elsewhere;
  if (end.code == 0) turn.end(end.made_of);
  return end;
}

}  // namespace dsbuild
