#include "slices/kept_results.h"

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
  return path ? size_and_time(*path, files) : "";
}

std::string size_and_time(const Path& path, const FileReader& files) {
  const auto identity = files.identity(path);
  return identity ? identity->size_and_time() : "";
}

}  // namespace dsbuild
