// `dsbuild step …`: what build.ninja runs of dsbuild itself, in the build folder.
#include "command.h"

namespace dsbuild {
namespace {

// step verify check/<op>.json check/<op>.ok: the op's objects and library against its plan.
Result<int> verify(const CommandContext& context, const Path& expected_file, const Path& stamp) {
  FileSystem& files = context.system.files;
  DSBUILD_TRY(text, files.read_file(expected_file));
  DSBUILD_TRY(expected, parse_expected(text, expected_file.string()));
  DSBUILD_TRY(differences, verify_op(expected, ".", files));
  for (const Difference& difference : differences)
    print_message("error: " + difference.what + "\n");
  if (!differences.empty()) return static_cast<int>(Exit::failed);
  DSBUILD_CHECK(files.write_file(stamp, "ok\n"));
  return 0;
}

}  // namespace

Result<int> run_step(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (words.size() == 3 && words[0] == "verify") return verify(context, words[1], words[2]);
  return fail(Exit::usage, "bad_option", "step", "not a step: " + shell_join(words),
              "Steps are run by build.ninja alone.");
}

}  // namespace dsbuild
