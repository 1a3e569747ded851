#include "build_folder.h"

#include "ninja/ninja_file.h"

namespace dsbuild {
namespace {

constexpr const char* k_marker = "dsbuild-build-folder";
constexpr const char* k_marker_text = "Made by dsbuild; `dsbuild clean` removes it.\n";

Result<void> check_ours(const Path& folder, const FileReader& files) {
  const FileKind kind = files.kind(folder);
  if (kind == FileKind::absent || files.kind(folder / k_marker) == FileKind::file) return {};
  if (kind == FileKind::directory) {
    DSBUILD_TRY(names, files.list(folder));
    if (names.empty()) return {};
  }
  return fail(Exit::usage, "foreign_build_dir", folder.string(),
              "the build folder holds files that are not dsbuild's",
              "Choose another --build-dir, or empty this one.");
}

Result<std::unique_ptr<FolderLock>> lock(const Settings& settings, const CommandContext& context) {
  std::optional<std::chrono::seconds> timeout;
  if (settings.lock_timeout.value >= 0) timeout = std::chrono::seconds(settings.lock_timeout.value);
  return take_lock(settings.build_dir.value / "lock", context.line.as_typed, timeout,
                   [&](const std::string& holder) {
                     print_message("waiting for another dsbuild in " + settings.build_dir.value.string() +
                                   " (" + holder + ")\n");
                   });
}

}  // namespace

Result<std::unique_ptr<FolderLock>> open_build_folder(const Settings& settings,
                                                      const CommandContext& context) {
  FileSystem& files = context.system.files;
  const Path& folder = settings.build_dir.value;
  DSBUILD_CHECK(check_ours(folder, files));
  DSBUILD_CHECK(files.make_directories(folder));
  DSBUILD_CHECK(files.write_if_different(folder / k_marker, k_marker_text));
  DSBUILD_TRY(held, lock(settings, context));
  for (const char* name : {"tmp", "log"})
    DSBUILD_CHECK(files.make_directories(folder / name));
  return held;
}

Result<void> write_planned_files(const Stages& stages, FileSystem& files) {
  const Path& folder = stages.base.settings.build_dir.value;
  for (const auto& [name, target] : stages.build.links)
    if (files.real_path(folder / name) != files.real_path(target))
      DSBUILD_CHECK(files.make_symlink(target, folder / name));
  for (const PlannedFile& file : stages.build.files) {
    DSBUILD_CHECK(files.make_directories((folder / file.path).parent_path()));
    DSBUILD_CHECK(files.write_if_different(folder / file.path, file.content));
  }
  DSBUILD_TRY(text, render_ninja(stages.build));
  DSBUILD_CHECK(files.write_if_different(folder / "build.ninja", text));
  return {};
}

Result<bool> remove_build_folder(const Settings& settings, const CommandContext& context) {
  FileSystem& files = context.system.files;
  if (files.kind(settings.build_dir.value) == FileKind::absent) return false;
  DSBUILD_CHECK(check_ours(settings.build_dir.value, files));
  DSBUILD_TRY(held, lock(settings, context));
  DSBUILD_CHECK(files.remove_all(settings.build_dir.value));
  return true;
}

}  // namespace dsbuild
