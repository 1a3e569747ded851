// new: an op to start from, or a pack of a project that has a build of its own.
#include "next_build.h"
#include "project/new_op.h"
#include "project_pack.h"

namespace dsbuild {
namespace {

Result<int> run_new_op(const CommandContext& context) {
  const std::vector<std::string>& words = context.line.operands;
  if (words.size() != 1)
    return fail(Exit::usage, "bad_option", "new", words.empty() ? "no op named" : "takes one op name",
                "Usage: dsbuild new OP [--pack DIR] [--backend cuda|cpu]");
  DSBUILD_TRY(request, load_request(context));
  Settings& settings = request.settings;
  if (settings.pack.is_default()) settings.pack.value = k_new_pack;
  DSBUILD_TRY(made,
              write_new_op(words.front(), context.line.value("--backend", "cuda"), settings, context.system));
  made.next = build_and_test(made, settings, context.system);
  DSBUILD_CHECK(print_done(settings, render_new_op_json(made), render_new_op(made)));
  return 0;
}

Result<int> run_new_pack(const CommandContext& context) {
  if (!context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "new", "an op's name with --from, which names the ops itself",
                "Usage: dsbuild new --from DIR [--pack DIR]");
  DSBUILD_TRY(request, load_request(context));
  Settings& settings = request.settings;
  if (settings.pack.is_default()) settings.pack.value = k_new_pack;
  const Path pack = settings.pack.value, file = pack / "pack.yaml";
  if (context.system.files.kind(file) != FileKind::absent)
    return fail(Exit::usage, "file_exists", file.string(), "the file is already there, nothing was written",
                "Choose another --pack.");
  DSBUILD_TRY(written, pack_of_project({context.line.value("--from"), {}}, pack, settings, context));
  const std::string next = build_of_project(written, settings, context.system);
  DSBUILD_CHECK(print_done(settings, render_new_pack_json(written, next), render_new_pack(written, next)));
  return 0;
}

Result<int> run_new(const CommandContext& context) {
  return context.line.has("--from") ? run_new_pack(context) : run_new_op(context);
}

}  // namespace

CommandRow new_command() {
  return {.name = "new",
          .help = "Write a template of an op, or a pack for a project with a setup.py",
          .run = run_new,
          .examples = {{"dsbuild new scale --pack ./mypack", "a working CUDA op in ./mypack/scale"},
                       {"dsbuild new scale --backend cpu", "a working CPU op in ./mypack/scale"},
                       {"dsbuild new --from ./torch_scatter-2.1.2.tar.gz",
                        "a pack with the extensions of its setup.py"}},
          .options = {{.names = "--backend", .type = "cuda|cpu", .help = "What the op runs on [cuda]"},
                      {.names = "--from",
                       .type = "DIR|FILE",
                       .help = "Write a pack for a project: a folder with a setup.py (dsbuild runs it) or a "
                               "build.toml, or a source distribution"}},
          .uses = {{"", {Topic::pack, Topic::source, Topic::python}},
                   {"--from", {Topic::pack, Topic::python, Topic::cuda}}},
          .operands = Operands{"op", "NAME", "The op's name; its folder goes into --pack [mypack]"}};
}

}  // namespace dsbuild
