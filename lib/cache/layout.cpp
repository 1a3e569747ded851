#include "cache/layout.h"

namespace dsbuild {
namespace {

bool is_hex(const std::string& name, size_t digits) {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void add_file(const Path& path, const FileReader& files, std::vector<EntryFile>& to) {
  if (files.own_kind(path) != FileKind::file) return;
  // nullopt: another process removed it meanwhile.
  if (const auto identity = files.identity(path)) to.push_back({path, identity->size, identity->mtime_ns});
}

Result<void> scan_folder(const Path& folder, const FileReader& files, StoreContent& content) {
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    if (is_hex(name, 62)) add_file(folder / name, files, content.entries);
    if (is_own_temporary(name)) add_file(folder / name, files, content.temporaries);
  }
  return {};
}

}  // namespace

Result<StoreContent> scan_store(const Path& folder, const FileReader& files) {
  StoreContent content;
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    if (is_own_temporary(name)) add_file(folder / name, files, content.temporaries);
    if (is_hex(name, 2) && files.own_kind(folder / name) == FileKind::directory)
      DSBUILD_CHECK(scan_folder(folder / name, files, content));
  }
  return content;
}

}  // namespace dsbuild
