#include "slices/kept_results.h"

#include <chrono>

#include "slices/step_file.h"

namespace dsbuild {

std::optional<ContentStore> store_of_build(FileSystem& files) {
  const auto folder = files.read_file(k_store_file);
  if (!folder || trim(*folder).empty()) return std::nullopt;
  return ContentStore(files, trim(*folder));
}

std::string identity_of_tool(const std::string& program, const Environment& environment,
                             const FileReader& files) {
  const auto path = find_program(files, program, variable(environment, "PATH"));
  const auto identity = path ? files.identity(*path) : std::nullopt;
  return identity ? std::to_string(identity->size) + ":" + std::to_string(identity->mtime_ns) : "";
}

int64_t file_clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace dsbuild
