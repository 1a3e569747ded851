#include "load/load_record.h"

#include <algorithm>

#include "base/digest.h"
#include "registry/registry.h"

namespace dsbuild {
namespace {

constexpr const char* k_end = ".yaml";

// A pack that is a folder may be named from another one next time.
std::string pack_of(const Settings& settings, const FileReader& files) {
  const std::string& pack = settings.pack.value;
  const std::vector<std::string> known = known_packs(files, settings.data_dir);
  const bool is_known = std::find(known.begin(), known.end(), pack) != known.end();
  const bool is_folder = !is_known && files.kind(pack) == FileKind::directory;
  return is_folder ? files.absolute(pack).lexically_normal().string() : pack;
}

// Where no GPU is visible and no archs are asked for, a prebuilt op is taken for none. Of a request in words
// (all, native) what was built of it counts.
ArchSet asked_archs(const LoadRequest& request, const LoadedOp& loaded) {
  if (loaded.op.archs.empty()) return {};
  const auto asked = archs_of(request);
  if (!asked) return {};
  return asked->value.explicit_only() ? asked->value.targets : loaded.op.archs;
}

}  // namespace

Result<void> note_load(const LoadRequest& request, const LoadedOp& loaded, FileSystem& files) {
  const Settings& settings = request.request.settings;
  if (settings.record.value.empty()) return {};
  Workload workload;
  workload.add(pack_of(settings, files), request.op, asked_archs(request, loaded));
  const std::string text = render_workload(workload, "An op that was loaded.");
  return files.write_file(settings.record.value / (sha256(text).substr(0, 32) + k_end), text);
}

Result<Workload> read_notes(const Path& folder, const FileReader& files) {
  Workload all;
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    if (!name.ends_with(k_end)) continue;  // one that is being written, or is none of ours
    DSBUILD_TRY(text, files.read_file(folder / name));
    DSBUILD_TRY(note, read_workload(text, (folder / name).string()));
    all.add(note);
  }
  return all;
}

}  // namespace dsbuild
