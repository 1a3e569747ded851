#include "command.h"
#include "package/wheel_checks.h"
#include "package/wheel_provenance.h"

namespace dsbuild {
namespace {

// What indexes show of a file (PEP 566).
std::string content_type(const Path& file) {
  const std::string suffix = to_lower(file.extension().string());
  if (suffix == ".md") return "text/markdown";
  return suffix == ".rst" ? "text/x-rst" : "text/plain";
}

Result<PackageOptions> package_options(const CommandContext& context) {
  PackageOptions options;
  options.index = context.line.value("--index", "pypi") == "own" ? WheelIndex::own : WheelIndex::pypi;
  if (context.line.has("--version")) options.version = context.line.value("--version");
  if (!context.line.has("--readme")) return options;
  const Path readme = context.line.value("--readme");
  DSBUILD_TRY(text, context.system.files.read_file(readme));
  options.description = std::move(text);
  options.description_type = content_type(readme);
  return options;
}

Result<int> run_wheel(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  DSBUILD_TRY(options, package_options(context));
  DSBUILD_TRY(package, make_package(named_bundle(settings, context), context.data_dir / "templates" / "wheel",
                                    options, context.system.files));
  DSBUILD_TRY(wheel, write_wheel(package, context.line.value("--wheel-dir", "."), context.system.files));
  DSBUILD_CHECK(write_wheel_statement(named_bundle(settings, context), wheel.path, context.system.files));
  append(package.warnings, check_licenses(package));
  if (options.index == WheelIndex::pypi) append(package.warnings, check_for_pypi(package, wheel.bytes));
  print_warnings(package.warnings, settings, context);
  DSBUILD_CHECK(print_done(settings, render_wheel_json(package, wheel), render_wheel(package, wheel)));
  return 0;
}

}  // namespace

CommandRow wheel_command() {
  return {
      .name = "wheel",
      .help = "Make a wheel of a bundle's Python modules, for pip",
      .run = run_wheel,
      .examples = {{"dsbuild wheel dsbuild-out",
                    "a wheel for the torch and Python that the ops were built for"},
                   {"dsbuild wheel dsbuild-out --index own",
                    "with the version 0.19.8+cu130torch211, which PyPI refuses"}},
      .options =
          {{.names = "--wheel-dir", .type = "DIR", .help = "Where the wheel goes [.]"},
           {.names = "--version",
            .type = "VERSION",
            .help = "The wheel's version [that of the pack's sources]"},
           {.names = "--index",
            .type = "pypi|own",
            .help =
                "pypi: a version that PyPI accepts; own: one with a local part, for your own index [pypi]"},
           {.names = "--readme",
            .type = "FILE",
            .help = "The description that an index shows (.md, .rst, .txt) [a table of the ops]"}},
      .uses = {{"", {Topic::bundle}}},
      .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
