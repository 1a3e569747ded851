#include "driver/clean.h"

#include "base/build_layout.h"
#include "bundle/bundle.h"
#include "driver/build_folder.h"
#include "driver/publish.h"
#include "inputs/path_origin.h"

namespace dsbuild {
namespace {

// Links are not followed: what they lead to is not removed with them.
void add_bundles_below(const Path& folder, const FileReader& files, std::vector<Path>& bundles) {
  if (files.own_kind(folder) != FileKind::directory) return;
  if (load_manifest(folder, files)) {
    bundles.push_back(folder);
    return;
  }
  for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{}))
    add_bundles_below(folder / name, files, bundles);
}

std::vector<Path> bundles_inside(const Path& folder, const FileReader& files) {
  static const std::set<std::string> k_ours = {k_objects_folder,    k_libraries_folder, k_checks_folder,
                                               k_headers_folder,    k_tools_folder,     k_lists_dir,
                                               k_comparison_folder, k_log_folder,       k_tool_tmp_dir};
  std::vector<Path> bundles;
  for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{}))
    if (k_ours.count(name) == 0) add_bundles_below(folder / name, files, bundles);
  return bundles;
}

Result<void> check_bundles_inside(const Path& folder, const FileReader& files) {
  const std::vector<Path> bundles = bundles_inside(folder, files);
  if (bundles.empty()) return {};
  return fail(Exit::usage, "bundle_in_build_dir", bundles.front().string(),
              "the build folder holds a bundle, which would be removed with it",
              "Move the bundle elsewhere, or remove both with --bundle.");
}

// Whether there was one.
Result<bool> remove_published(const Request& request, FileSystem& files, Events& events) {
  const Path& out = request.settings.out.value;
  if (files.kind(out) == FileKind::absent) return false;
  DSBUILD_TRY(held, lock_published(out, request, files, events));
  if (files.kind(out) == FileKind::absent) return false;
  DSBUILD_CHECK(remove_bundle(out, files));
  return true;
}

// Whether there was one; one that somebody wrote himself stays.
Result<bool> remove_project_pack(const Path& folder, FileSystem& files) {
  const auto pack = files.read_file(folder / "pack.yaml");
  if (!pack || !pack->starts_with(k_project_pack_start)) return false;
  DSBUILD_CHECK(files.remove_all(folder));
  return true;
}

}  // namespace

Result<std::vector<Path>> clean(const Request& request, bool with_bundle, FileSystem& files, Events& events) {
  const Settings& settings = request.settings;
  std::vector<Path> removed;
  const auto note = [&](const Path& folder) {
    removed.push_back(folder);
    events.on_removed(folder);
  };
  if (!with_bundle) DSBUILD_CHECK(check_bundles_inside(settings.build_dir.value, files));
  DSBUILD_TRY(had_folder, remove_build_folder(request, files, events));
  if (had_folder) note(settings.build_dir.value);
  const Path project_pack = settings.build_dir.value.string() + k_project_pack_suffix;
  DSBUILD_TRY(had_pack, remove_project_pack(project_pack, files));
  if (had_pack) note(project_pack);
  if (!with_bundle) return removed;
  DSBUILD_TRY(had_bundle, remove_published(request, files, events));
  if (had_bundle) note(settings.out.value);
  return removed;
}

}  // namespace dsbuild
