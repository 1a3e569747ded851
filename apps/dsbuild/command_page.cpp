// page: one HTML file of a bundle or a build: what is in it, why, how large, and how long it took.
#include "command.h"

namespace dsbuild {
namespace {

Result<PageTemplate> read_template(const CommandContext& context) {
  const Path folder = context.data_dir / "templates" / "page";
  const FileSystem& files = context.system.files;
  DSBUILD_TRY(html, files.read_file(folder / "page.html"));
  DSBUILD_TRY(css, files.read_file(folder / "page.css"));
  DSBUILD_TRY(js, files.read_file(folder / "page.js"));
  return PageTemplate{std::move(html), std::move(css), std::move(js)};
}

// The build folder, which knows more; else the bundle.
Path named_folder(const Settings& settings, const CommandContext& context) {
  if (!context.line.operands.empty()) return context.line.operands.front();
  const bool has_build = context.system.files.kind(settings.build_dir.value) == FileKind::directory;
  return has_build ? settings.build_dir.value : settings.out.value;
}

Result<int> run_page(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  const Path file = context.line.value("--output", "dsbuild.html");
  if (files.kind(file) == FileKind::directory)
    return fail(Exit::usage, "bad_option", "-o", "'" + printable(file.string()) + "' is a folder",
                "Give the path of a file: -o " + shell_quote((file / "dsbuild.html").string()));
  Session session(settings, context.system);
  DSBUILD_TRY(inventory,
              take_inventory(named_folder(settings, context), files, session.digests, Kernels::listed));
  print_warnings(inventory.warnings, settings, context);
  const Json page = page_json(inventory);
  if (settings.json.value) {
    DSBUILD_CHECK(print_result(render_page_json(page)));
    return 0;
  }
  DSBUILD_TRY(parts, read_template(context));
  const std::string html = render_page(page, parts);
  DSBUILD_CHECK(files.write_file(file, html));
  DSBUILD_CHECK(
      print_result(file.string() + "  " + human_size(html.size()) + ", of " + inventory.path + "\n"));
  return 0;
}

}  // namespace

CommandRow page_command() {
  return {.name = "page",
          .help = "Write an HTML page about a bundle or a build: archs, sizes, times",
          .run = run_page,
          .examples = {{"dsbuild page", "about the build folder, into dsbuild.html"},
                       {"dsbuild page dsbuild-out -o ops.html", "about a bundle, which has no times"}},
          .options = {{.names = "--output,-o", .type = "FILE", .help = "The file [dsbuild.html]"}},
          .uses = {{"", {Topic::bundle, Topic::build_folder, Topic::digests}}},
          .operands = Operands{"folder",
                               "DIR",
                               "A bundle or a build folder [--build-dir, else --out]",
                               1,
                               {"--out", "--build-dir"}}};
}

}  // namespace dsbuild
