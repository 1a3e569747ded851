#include <algorithm>

#include "command.h"

namespace dsbuild {
namespace {

bool is_binary_name(const std::string& name) {
  static const std::vector<std::string> k_endings = {".so", ".o", ".a", ".cubin", ".fatbin", ".ptx"};
  return name.find(".so.") != std::string::npos ||
         std::any_of(k_endings.begin(), k_endings.end(), [&](const std::string& ending) {
           return name.size() > ending.size() &&
                  name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
         });
}

// A file named by the user is read whatever its name; in folders, files named like binaries.
Result<void> collect(const Path& path, bool named, const FileReader& files, std::vector<Path>& found) {
  const FileKind kind = files.kind(path);
  if (kind == FileKind::absent)
    return fail(Exit::usage, "no_file", path.string(), "there is no such file",
                "Give a binary file, or a folder of them.");
  if (kind == FileKind::directory) {
    DSBUILD_TRY(names, files.list(path));
    for (const std::string& name : names)
      DSBUILD_CHECK(collect(path / name, false, files, found));
  } else if (named || (kind == FileKind::file && is_binary_name(path.filename().string()))) {
    found.push_back(path);
  }
  return {};
}

Result<int> run_inspect(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "inspect", "no file given", "dsbuild inspect FILE|DIR…");
  std::vector<Target> gpus;
  if (context.line.has("--gpu")) {
    DSBUILD_TRY(asked,
                parse_gpus(context.line.value("--gpu"), "--gpu", archs_of_gpus(find_gpus(context.system))));
    gpus = std::move(asked);
  }
  std::vector<Path> paths;
  for (const std::string& operand : context.line.operands)
    DSBUILD_CHECK(collect(operand, true, context.system.files, paths));
  std::vector<InspectedFile> inspected;
  for (const Path& path : paths) {
    DSBUILD_TRY(bytes, context.system.files.read_file(path));
    DSBUILD_TRY(content, read_binary(as_bytes_of(bytes), path.string()));
    inspected.push_back({path.string(), std::move(content), {}});
    for (const Target& gpu : gpus)
      if (!inspected.back().content.images.empty())
        inspected.back().coverage.push_back(coverage_of_modules(modules_of(inspected.back().content), gpu));
  }
  const bool json = context.line.arguments.find("--json").has_value();
  DSBUILD_CHECK(print_result(json ? render_inspect_json(inspected) : render_inspect(inspected)));
  return 0;
}

}  // namespace

CommandRow inspect_command() {
  return {.name = "inspect",
          .help = "List the device images inside binary files; needs no CUDA",
          .run = run_inspect,
          .examples = {{"dsbuild inspect lib.so", "the device images inside a binary"},
                       {"dsbuild inspect dsbuild-out --gpu 8.6",
                        "those of every library of a bundle, and how that GPU runs them"}},
          .options = {{.names = "--gpu",
                       .type = "ARCHS",
                       .help = "How GPUs of these archs would run it: 8.6,9.0 or native or all"}},
          .operands = Operands{"files", "FILE|DIR", "Binary files or folders"}};
}

}  // namespace dsbuild
