#include "store/layout.h"

#include <chrono>

namespace dsbuild {
namespace {

bool is_hex(const std::string& name, size_t digits) {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<void> scan_folder(const Path& folder, const FileReader& files, StoreContent& content) {
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    const bool is_entry = is_hex(name, 62);
    if (!is_entry && !is_own_temporary(name)) continue;
    const Path path = folder / name;
    if (files.own_kind(path) != FileKind::file) continue;
    const auto identity = files.identity(path);  // nullopt: another process removed it meanwhile
    if (!identity) continue;
    (is_entry ? content.entries : content.temporaries).push_back({path, identity->size, identity->mtime_ns});
  }
  return {};
}

}  // namespace

Result<StoreContent> scan_store(const Path& folder, const FileReader& files) {
  StoreContent content;
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names)
    if (is_hex(name, 2) && files.own_kind(folder / name) == FileKind::directory)
      DSBUILD_CHECK(scan_folder(folder / name, files, content));
  return content;
}

int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace dsbuild
