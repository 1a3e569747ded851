// sbom: what a bundle is made of, for scanners and those who ask for it.
#include "bundle/bundle.h"
#include "command.h"
#include "provenance/sbom.h"
#include "provenance/whole_bundle.h"

namespace dsbuild {
namespace {

Result<int> run_sbom(const CommandContext& context) {
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  FileSystem& files = context.system.files;
  const Path bundle = named_bundle(settings, context);
  DSBUILD_TRY(manifest, load_whole_bundle(bundle, files));
  DSBUILD_TRY(statement, load_statement(bundle, files));
  const Components components = components_of(manifest, statement);
  const std::string text =
      render_sbom(components, time_of_sbom(statement, settings.variable("SOURCE_DATE_EPOCH")),
                  context.line.value("--format") == k_cyclonedx ? SbomFormat::cyclonedx : SbomFormat::spdx);
  if (!context.line.has("--sbom-file")) {
    DSBUILD_CHECK(print_document(text));
    return 0;
  }
  const std::string file = context.line.value("--sbom-file");
  DSBUILD_CHECK(files.write_file(file, text));
  DSBUILD_CHECK(print_done(settings, render_sbom_json(file, components.all.size()),
                           render_sbom_written(file, components.all.size())));
  return 0;
}

}  // namespace

CommandRow sbom_command() {
  return {.name = "sbom",
          .help = "Print what a bundle is made of: a bill of materials (SBOM)",
          .run = run_sbom,
          .examples = {{"dsbuild sbom dsbuild-out", "SPDX 2.3, for scanners and auditors"},
                       {"dsbuild sbom --format cyclonedx --sbom-file ops.cdx.json",
                        "CycloneDX 1.6, into a file"}},
          .options = {{.names = "--format",
                       .type = "spdx|cyclonedx",
                       .help = "SPDX 2.3 or CycloneDX 1.6, as JSON [spdx]"},
                      {.names = "--sbom-file", .type = "FILE", .help = "Write it there [stdout]"}},
          .uses = {{"", {Topic::bundle}}},
          .operands = Operands{"bundle", "DIR", "The bundle [--out]", 1, {"--out"}}};
}

}  // namespace dsbuild
