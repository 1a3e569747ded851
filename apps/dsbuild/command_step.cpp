// `dsbuild step …`: what build.ninja runs of dsbuild itself, in the build folder.
#include <algorithm>

#include "command.h"
#include "slices/audit.h"
#include "slices/preprocess.h"
#include "slices/run_step.h"
#include "sys/memory_gate.h"

namespace dsbuild {
namespace {

// step verify check/<op>.json check/<op>.ok: the op's objects and library against its plan.
Result<int> verify(const CommandContext& context, const Path& expected_file, const Path& stamp) {
  FileSystem& files = context.system.files;
  MemoryTurn turn(context.system.environment, stamp.string());
  turn.wait_to_work();
  DSBUILD_TRY(text, files.read_file(expected_file));
  DSBUILD_TRY(expected, parse_expected(text, expected_file.string()));
  DSBUILD_TRY(differences, verify_op(expected, ".", files));
  for (const Difference& difference : differences)
    print_message("error: " + difference.what + "\n");
  if (!differences.empty()) return static_cast<int>(Exit::failed);
  DSBUILD_CHECK(files.write_file(stamp, "ok\n"));
  return 0;
}

// step twin cxx|nvcc TWIN OUTPUT -- TWIN'S COMMAND -- COMMAND
struct TwinStep {
  CompilerKind kind = CompilerKind::cxx;
  Path twin;  // the object of the other command, made already
  Path output;
  Words twin_command;
  Words command;
};

std::optional<TwinStep> read_twin_step(const Words& words) {
  const auto first = std::find(words.begin(), words.end(), "--");
  if (first - words.begin() != 4 || words[0] != "twin") return std::nullopt;
  const auto second = std::find(first + 1, words.end(), "--");
  if (second == words.end() || second + 1 == words.end()) return std::nullopt;
  const CompilerKind kind = words[1] == "nvcc" ? CompilerKind::nvcc : CompilerKind::cxx;
  return TwinStep{kind, words[2], words[3], Words(first + 1, second), Words(second + 1, words.end())};
}

Result<int> run_tool(const Words& command, System& system, MemoryTurn& turn) {
  turn.wait_to_work();
  DSBUILD_TRY(result, system.processes.run({command, system.environment, {}, std::chrono::hours(24)}));
  print_message(result.out + result.err);
  turn.add_peak(result.peak_memory_bytes);
  if (result.exit_code == 0) turn.done();
  return result.exit_code;
}

// Takes the twin's object where it is the same, and compiles where it is not or that cannot be told.
Result<int> take_twin_or_compile(const CommandContext& context, const TwinStep& step) {
  System& system = context.system;
  MemoryTurn turn(system.environment, step.output.string());
  turn.wait_to_look();
  if (const auto depfile = depfile_if_same_texts(step.kind, step.command, step.twin_command,
                                                 step.output.string(), step.output, system)) {
    DSBUILD_TRY(object, system.files.read_file(step.twin));
    DSBUILD_CHECK(system.files.write_file(step.output.string() + ".d", *depfile));
    DSBUILD_CHECK(system.files.write_file(step.output.string() + ".tmp", object));
    return 0;
  }
  return run_tool(step.command, system, turn);
}

// step run OUTPUT -- COMMAND: as Ninja would run it, when there is memory for it.
Result<int> run_when_there_is_memory(const CommandContext& context, const Words& words) {
  MemoryTurn turn(context.system.environment, words[1]);
  return run_tool({words.begin() + 3, words.end()}, context.system, turn);
}

tl::unexpected<Error> refuse(const Words& words) {
  return fail(Exit::usage, "bad_option", "step", "not a step: " + shell_join(words),
              "Steps are run by build.ninja alone.");
}

// step slice STEP_FILE OUTPUT [TWIN'S OUTPUT] -- [SOURCE GENCODE…]
Result<int> run_slice(const CommandContext& context, const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const auto number = end - words.begin();
  if (end == words.end() || (number != 3 && number != 4)) return refuse(words);
  SliceStep step{words[1], words[2], number == 4 ? words[3] : "", {}, {}};
  if (end + 1 != words.end()) {
    step.source = *(end + 1);
    step.gencodes.assign(end + 2, words.end());
  }
  return run_slice_step(step, context.system, print_message);
}

// step audit STAMP SOURCE NVCC'S_OBJECT IMAGES_OBJECT HOST_OBJECT STEP_FILE…
Result<int> audit(const CommandContext& context, const Words& words) {
  constexpr size_t k_before_step_files = 6;
  if (words.size() <= k_before_step_files) return refuse(words);
  const AuditStep step{
      words[2], {words[3], words[4], words[5]}, Words(words.begin() + k_before_step_files, words.end())};
  DSBUILD_TRY(difference, run_audit_step(step, context.system, print_message));
  if (!difference.empty())
    return fail(Exit::failed, "not_as_nvcc", step.objects.images.string(),
                "slices do not make what nvcc makes: " + difference, "Build with --backend nvcc.");
  DSBUILD_CHECK(context.system.files.write_file(words[1], "the same\n"));
  return 0;
}

}  // namespace

Result<int> run_step(const CommandContext& context) {
  const Words& words = context.line.operands;
  if (const auto step = read_twin_step(words)) return take_twin_or_compile(context, *step);
  if (words.size() > 3 && words[0] == "run" && words[2] == "--")
    return run_when_there_is_memory(context, words);
  if (!words.empty() && words[0] == "slice") return run_slice(context, words);
  if (!words.empty() && words[0] == "audit") return audit(context, words);
  if (words.size() == 3 && words[0] == "verify") return verify(context, words[1], words[2]);
  return refuse(words);
}

}  // namespace dsbuild
