#include "wrapper/call_folder.h"

#include "base/build_layout.h"
#include "sys/clock.h"
#include "sys/node_disk.h"

namespace dsbuild {
namespace {

constexpr int64_t k_longest_call_ns = int64_t{24} * 3600 * 1'000'000'000;

Result<Path> shared_folder(const System& system) {
  std::vector<Path> parents = {"/tmp", "/var/tmp"};
  if (const Path named = variable(system.environment, "TMPDIR"); named.is_absolute())
    parents.insert(parents.begin(), named);
  DSBUILD_TRY(own, make_own_folder(parents));
  return own / "nvcc";
}

// Those of calls that were killed.
void remove_old(const Path& calls, FileSystem& files) {
  const auto names = files.list(calls);
  for (const std::string& name : names ? *names : std::vector<std::string>{})
    if (const auto identity = files.identity(calls / name);
        identity && identity->ctime_ns < file_clock_now() - k_longest_call_ns)
      (void)files.remove_all(calls / name);
}

Result<void> lay_out(const Path& folder, const PathMap& place, const CallTools& tools, const Session& session,
                     const Settings& settings) {
  FileSystem& files = session.system.files;
  for (const char* name : {k_tools_folder, k_steps_folder, k_tool_tmp_dir, k_objects_folder})
    DSBUILD_CHECK(files.make_directories(folder / name));
  DSBUILD_CHECK(files.make_symlink(place.root, folder / k_pack_folder));
  DSBUILD_CHECK(files.write_file(folder / k_nvcc_id_file, tools.parts.text));
  for (const PlannedFile& file : places_of_steps({{{k_nvcc_tool, tools.parts}}}, settings, files))
    DSBUILD_CHECK(files.write_file(folder / file.path, file.content));
  return {};
}

}  // namespace

Result<CallFolder> CallFolder::make(const PathMap& place, const CallTools& tools, const Session& session,
                                    const Settings& settings) {
  FileSystem& files = session.system.files;
  DSBUILD_TRY(shared, shared_folder(session.system));
  const Path calls = shared / "calls";
  DSBUILD_CHECK(files.make_directories(calls));
  remove_old(calls, files);
  DSBUILD_TRY(folder, PrivateFolder::make(calls, files));
  DSBUILD_CHECK(lay_out(folder.path(), place, tools, session, settings));
  return CallFolder(std::move(folder), shared);
}

}  // namespace dsbuild
