#include "driver/cache_folders.h"

namespace dsbuild {
namespace {

// As a file that is half written is called: nobody takes it for one of theirs.
constexpr const char* k_probe = ".writable.dsbuild-tmp";

Result<void> try_to_write(const Path& folder, FileSystem& files) {
  DSBUILD_CHECK(files.make_directories(folder));
  DSBUILD_CHECK(files.write_file(folder / k_probe, ""));
  return files.remove_all(folder / k_probe);
}

bool is_below(const Path& path, const Path& folder) {
  return path.lexically_normal().string().starts_with(folder.lexically_normal().string() + "/");
}

}  // namespace

std::vector<Warning> check_caches(const Settings& settings, FileSystem& files) {
  std::vector<Warning> warnings;
  const auto add = [&](const Path& folder, const std::string& price, const std::string& fix) {
    if (const auto written = try_to_write(folder, files); !written)
      warnings.push_back(warning("cache_not_writable", folder.string(),
                                 "dsbuild cannot write there (" + written.error().what + "). " + price, fix));
  };
  add(settings.cache_dir, "Each build folder examines the compilers again, and dsbuild caches no results",
      "Make it writable, or name another: XDG_CACHE_HOME=DIR.");
  const Path& store = settings.local_cache.value;
  if (settings.local_cache_size.value > 0 && !is_below(store, settings.cache_dir))
    add(store, "dsbuild caches no results", "Make it writable, or name another: --cache-dir DIR.");
  return warnings;
}

}  // namespace dsbuild
