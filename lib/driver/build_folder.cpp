#include "driver/build_folder.h"

#include <algorithm>
#include <set>

#include "base/build_layout.h"
#include "bundle/bundle.h"
#include "cache/tiered_cache.h"
#include "inputs/path_origin.h"
#include "ninja/ninja_file.h"

namespace dsbuild {
namespace {

constexpr const char* k_marker_text = "Made by dsbuild; `dsbuild clean` removes it.\n";

// A dsbuild that starts at this moment has made these, and writes the marker next.
bool is_beginning(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name == k_build_lock_file || is_own_temporary(name);
  });
}

bool has_marker(const Path& folder, const FileReader& files) {
  return files.kind(folder / k_build_folder_marker) == FileKind::file;
}

// While another dsbuild makes or removes the folder too: then the marker comes with the first files, and goes
// with the last.
Result<void> check_ours(const Path& folder, const FileReader& files) {
  const FileKind kind = files.kind(folder);
  if (kind == FileKind::absent || has_marker(folder, files)) return {};
  if (kind == FileKind::directory) {
    const auto names = files.list(folder);
    if (names && is_beginning(*names)) return {};
    if (files.kind(folder) == FileKind::absent || has_marker(folder, files)) return {};
    DSBUILD_CHECK(names);
  }
  return fail(Exit::usage, "foreign_build_dir", folder.string(),
              "the build folder holds files that are not dsbuild's",
              "Choose another --build-dir, or empty this one.");
}

// `take` is take_lock or take_lock_if_there.
template <typename Take>
Result<std::unique_ptr<FolderLock>> lock(const Take& take, const Request& request, Events& events) {
  const Settings& settings = request.settings;
  std::optional<std::chrono::seconds> timeout;
  if (settings.lock_timeout.value >= 0) timeout = std::chrono::seconds(settings.lock_timeout.value);
  return take(settings.build_dir.value / k_build_lock_file, request.title, timeout,
              [&](const std::string& holder) {
                events.on_message("waiting for another dsbuild in " + settings.build_dir.value.string() +
                                  " (" + holder + ")");
              });
}

// Slices are written by dsbuild itself, all but the object of images.
std::vector<const char*> temporaries_of(const Edge& edge) {
  if (edge.is_link()) return {k_temporary_end, k_objects_list_end, k_depfile_end};
  if (edge.part == "fatbin") return {k_temporary_end};
  if (edge.kind == EdgeKind::hip_bundle) return {k_temporary_end, k_bundle_end, k_assembly_end};
  if (edge.kind == EdgeKind::hipify) return {k_scratch_end};
  if (edge.kind == EdgeKind::cuda_slice || !edge.is_compile()) return {};
  return {k_temporary_end, k_depfile_end, k_assembler_depfile_end};
}

// What tools write beside an output before it is whole. A killed run leaves some; a link at such a name would
// be written through.
Result<void> remove_temporaries(const BuildPlan& plan, const Path& folder, FileSystem& files) {
  for (const Edge& edge : plan.edges)
    for (const char* suffix : temporaries_of(edge))
      DSBUILD_CHECK(files.remove_all(folder / (edge.output + suffix)));
  return {};
}

// Half-written files of a dsbuild that was killed, and the folders of steps that were. One whose record was
// written by then holds, and will not run again.
Result<void> remove_own_temporaries(const BuildPlan& plan, const Path& folder, FileSystem& files) {
  std::set<Path> folders = {folder, folder / k_log_folder, folder / k_lists_dir}, of_slices;
  for (const PlannedFile& file : plan.files)
    folders.insert((folder / file.path).parent_path());
  for (const Edge& edge : plan.edges) {
    const Path parent = (folder / edge.output).parent_path();
    folders.insert(parent);
    if (edge.kind == EdgeKind::cuda_slice) of_slices.insert(parent);
  }
  for (const Path& each : folders) {
    if (files.kind(each) != FileKind::directory) continue;
    const bool is_of_slices = of_slices.contains(each);
    DSBUILD_TRY(names, files.list(each));
    for (const std::string& name : names)
      if (is_own_temporary(name) || (is_of_slices && name.ends_with(k_scratch_end)))
        DSBUILD_CHECK(files.remove_all(each / name));
  }
  return {};
}

// Ninja would wait for ever for somebody to write into a pipe.
Result<void> remove_strange_logs(const Path& folder, FileSystem& files) {
  for (const char* name : {".ninja_log", ".ninja_deps", ".ninja_lock"}) {
    const FileKind kind = files.kind(folder / name);
    if (kind != FileKind::absent && kind != FileKind::file) DSBUILD_CHECK(files.remove_all(folder / name));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<FolderLock>> open_build_folder(const Request& request, Session& session) {
  FileSystem& files = session.system.files;
  const Path& folder = request.settings.build_dir.value;
  DSBUILD_CHECK(check_ours(folder, files));
  DSBUILD_TRY(held, lock(take_lock, request, session.events));
  DSBUILD_CHECK(files.write_if_different(folder / k_build_folder_marker, k_marker_text));
  DSBUILD_CHECK(files.make_empty_directory(folder / k_tool_tmp_dir));
  DSBUILD_CHECK(files.make_directories(folder / k_log_folder));
  return held;
}

Result<bool> write_planned_files(const Plan& plan, FileSystem& files) {
  bool any = false;
  const Path& folder = plan.settings().build_dir.value;
  for (const auto& [name, target] : plan.graph.links)
    if (files.real_path(folder / name) != files.real_path(target)) {
      DSBUILD_CHECK(files.make_directories((folder / name).parent_path()));
      DSBUILD_CHECK(files.make_symlink(target, folder / name));
      any = true;
    }
  std::set<Path> folders;
  for (const PlannedFile& file : plan.graph.files) {
    const Path parent = (folder / file.path).parent_path();
    if (folders.insert(parent).second) DSBUILD_CHECK(files.make_directories(parent));
    DSBUILD_TRY(is_new, files.write_if_different(folder / file.path, file.content));
    any = any || is_new;
  }
  DSBUILD_CHECK(remove_strange_logs(folder, files));
  DSBUILD_TRY(is_new, write_graph(plan.graph, folder, files));
  return any || is_new;
}

Result<bool> write_graph(const BuildPlan& plan, const Path& folder, FileSystem& files) {
  DSBUILD_CHECK(remove_temporaries(plan, folder, files));
  DSBUILD_CHECK(remove_own_temporaries(plan, folder, files));
  DSBUILD_TRY(text, render_ninja(plan));
  return files.write_if_different(folder / plan.graph_file, text);
}

// A store that cannot be one would be passed over in silence by every step.
Result<void> check_folders(const Settings& settings, FileSystem& files) {
  DSBUILD_CHECK(check_out_folder(settings.out.value, files));
  if (settings.local_cache_size.value == 0) return {};
  return TieredCache(files, settings.local_cache.value).check();
}

Result<std::unique_ptr<FolderLock>> lock_if_built(const Request& request, const FileReader& files) {
  const Path& folder = request.settings.build_dir.value;
  std::unique_ptr<FolderLock> held;
  if (has_marker(folder, files)) {
    DSBUILD_TRY(taken, take_lock_if_there(folder / k_build_lock_file, request.title,
                                          std::chrono::seconds::zero(), [](const std::string&) {}));
    held = std::move(taken);
  }
  if (held && has_marker(folder, files)) return held;
  return fail(Exit::failed, "not_built", folder.string(), "nothing was built here yet, so all of them",
              "Build, or name the folder of a build with --build-dir.");
}

Result<bool> remove_build_folder(const Request& request, FileSystem& files, Events& events) {
  const Path& folder = request.settings.build_dir.value;
  if (files.kind(folder) == FileKind::absent) return false;
  DSBUILD_CHECK(check_ours(folder, files));
  DSBUILD_TRY(held, lock(take_lock_if_there, request, events));
  if (!held) return false;
  DSBUILD_CHECK(check_ours(folder, files));
  const bool is_link = files.own_kind(folder) != FileKind::directory;
  DSBUILD_CHECK(is_link ? files.remove_all(folder)
                        : remove_locked_folder(folder / k_build_lock_file, k_build_folder_marker));
  return true;
}

}  // namespace dsbuild
