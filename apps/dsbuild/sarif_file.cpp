#include "sarif_file.h"

#include "report/message_help.h"
#include "sys/limits.h"

namespace dsbuild {

Option sarif_option(std::string help) {
  return {.names = "--sarif", .type = "FILE", .help = std::move(help)};
}

Result<int> run_with_sarif(const CommandContext& context,
                           const std::function<Result<int>(SarifLog* log)>& run) {
  if (!context.line.has("--sarif")) return run(nullptr);
  FileSystem& files = context.system.files;
  SarifLog log(repository_of_pipeline(context.system),
               files.read_file(context.data_dir / k_messages_page).value_or(std::string()));
  auto code = run(&log);
  if (!code) log.add(with_refusals(code.error()));
  const int exit_code = code ? *code : static_cast<int>(code.error().exit);
  DSBUILD_CHECK(files.write_file(context.line.value("--sarif"), log.render(exit_code)));
  return code;
}

}  // namespace dsbuild
