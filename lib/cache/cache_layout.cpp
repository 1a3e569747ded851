#include "cache/cache_layout.h"

#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr const char *k_results_folder = "ac", *k_blobs_folder = "cas";

bool is_hex(const std::string& name, size_t digits) {
  return name.size() == digits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

void add_file(const Path& path, const FileReader& files, std::vector<EntryFile>& to) {
  if (files.own_kind(path) != FileKind::file) return;
  // nullopt: another process removed it meanwhile.
  if (const auto identity = files.identity(path)) to.push_back({path, identity->size, identity->mtime_ns});
}

// Records of other machines name results and lists. What is no digest names no file, and none outside.
Path file_of(const Path& folder, const std::string& name) {
  return is_sha256(name) ? folder / name.substr(0, 2) / name.substr(2) : folder / "none";
}

using Files = std::vector<EntryFile>;

Result<void> scan_folder(const Path& folder, const FileReader& files, Files& entries, Files& temporaries) {
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    if (is_hex(name, 62)) add_file(folder / name, files, entries);
    if (is_own_temporary(name)) add_file(folder / name, files, temporaries);
  }
  return {};
}

// The folders of two hex digits.
Result<void> scan_folders(const Path& folder, const FileReader& files, Files& entries, Files& temporaries) {
  if (files.own_kind(folder) != FileKind::directory) return {};
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    if (is_own_temporary(name)) add_file(folder / name, files, temporaries);
    if (is_hex(name, 2) && files.own_kind(folder / name) == FileKind::directory)
      DSBUILD_CHECK(scan_folder(folder / name, files, entries, temporaries));
  }
  return {};
}

}  // namespace

Path result_file(const Path& folder, const std::string& key) {
  return file_of(folder / k_results_folder, key);
}

Path blob_file(const Path& folder, const std::string& digest) {
  return file_of(folder / k_blobs_folder, digest);
}

Result<CacheContent> scan_cache(const Path& folder, const FileReader& files) {
  CacheContent content;
  DSBUILD_CHECK(scan_folders(folder / k_results_folder, files, content.results, content.temporaries));
  for (const Path& blobs : {folder / k_blobs_folder, folder})
    DSBUILD_CHECK(scan_folders(blobs, files, content.blobs, content.temporaries));
  return content;
}

}  // namespace dsbuild
