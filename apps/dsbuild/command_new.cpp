// new: an op to start from.
#include "command.h"
#include "registry/new_op.h"

namespace dsbuild {
namespace {

Result<int> run_new(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (words.size() != 1)
    return fail(Exit::usage, "bad_option", "new", words.empty() ? "no op named" : "takes one op name",
                "dsbuild new OP [--pack DIR] [--backend cuda|cpu]");
  DSBUILD_TRY(request, load_request(context));
  Settings& settings = request.settings;
  if (settings.pack.is_default()) settings.pack.value = k_new_pack;
  DSBUILD_TRY(made,
              write_new_op(words.front(), context.line.value("--backend", "cuda"), settings, context.system));
  DSBUILD_CHECK(print_result(settings.json.value ? render_new_op_json(made) : render_new_op(made)));
  return 0;
}

}  // namespace

CommandRow new_command() {
  return {.name = "new",
          .help = "Write an op of your own to start from: spec, kernel, binding, test",
          .run = run_new,
          .examples = {{"dsbuild new scale --pack ./mypack", "a working CUDA op in ./mypack/scale"},
                       {"dsbuild new scale --backend cpu", "one for the CPU, in ./mypack"}},
          .options = {{.names = "--backend", .type = "cuda|cpu", .help = "What the op runs on [cuda]"}},
          .operands = Operands{"op", "NAME", "The op's name; its folder goes into --pack [mypack]"}};
}

}  // namespace dsbuild
