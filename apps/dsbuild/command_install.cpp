// `dsbuild install`: what pip would make of the wheel, for images without pip.
#include "driver/publish.h"
#include "package/package.h"
#include "show_events.h"

namespace dsbuild {
namespace {

Result<Path> packages_of_python(const Settings& settings, System& system) {
  Session session(settings, system);
  auto folder = find_platlib({settings.python.value, system, session.facts});
  if (folder) return folder;
  return fail(Exit::unmet, "python", settings.python.origin, folder.error().what,
              "Name a Python that runs here, or its site-packages folder: --target DIR.");
}

// The folder that --target names, or that of the Python that --python names.
Result<Path> find_target(const Settings& settings, const CommandContext& context) {
  const bool has_python = !settings.python.is_default();
  if (context.line.has("--target") && settings.python.origin == "--python")
    return fail(Exit::usage, "bad_option", "install", "--target and --python both say where to install",
                "Keep one of them.");
  if (context.line.has("--target")) return Path(context.line.value("--target"));
  if (has_python) return packages_of_python(settings, context.system);
  return fail(Exit::usage, "bad_option", "install", "no folder to install into",
              "Usage: dsbuild install BUNDLE --python EXE, EXE being the Python that is to load the ops; or "
              "--target DIR, "
              "DIR being a site-packages folder");
}

// Elsewhere nothing starts the import of the ops.
std::vector<Warning> check_site_packages(const Package& package, const Path& target) {
  const Path folder = target.has_filename() ? target : target.parent_path();
  if (folder.filename() == "site-packages" || folder.filename() == "dist-packages") return {};
  return {warning("no_site_packages", target.string(),
                  "Python reads .pth files only in its own site-packages and dist-packages",
                  "Give one of these (python3 -m site lists them), or `import " + package.name +
                      "` before the ops are.")};
}

Result<int> remove(const Path& target, const Settings& settings, const CommandContext& context) {
  DSBUILD_TRY(removed, remove_packages(target, context.system.files));
  DSBUILD_CHECK(print_done(settings, render_removed_json(removed, target.string()),
                           render_removed(removed, target.string())));
  return 0;
}

Result<int> run_install(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  ShownEvents events(settings, context);
  DSBUILD_TRY(target, find_target(settings, context));
  DSBUILD_TRY(held, lock_published(target, request, context.system.files, events));
  if (context.line.has("--remove")) return remove(target, settings, context);
  DSBUILD_TRY(package, make_package(named_bundle(settings, context), context.data_dir / "templates" / "wheel",
                                    {.index = WheelIndex::own}, context.system.files));
  DSBUILD_CHECK(install_package(package, target, context.system.files));
  std::vector<Warning> warnings = package.warnings;
  append(warnings, check_site_packages(package, target));
  print_warnings(warnings, settings, context);
  DSBUILD_CHECK(print_done(settings, render_installed_json(package, target.string(), warnings),
                           render_installed(package, target.string())));
  return 0;
}

}  // namespace

CommandRow install_command() {
  return {
      .name = "install",
      .help = "Install a bundle's Python modules without pip",
      .run = run_install,
      .examples = {{"dsbuild install dsbuild-out --python /venv/bin/python",
                    "as pip would install its wheel"},
                   {"dsbuild install --remove --python /venv/bin/python", "remove them"}},
      .options = {{.names = "--target",
                   .type = "DIR",
                   .help = "The site-packages folder to install into [--python's]"},
                  {.names = "--remove", .help = "Remove the modules that were installed there"}},
      .uses = {{"", {Topic::bundle, Topic::python, Topic::lock}}, {"--remove", {Topic::python, Topic::lock}}},
      .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
