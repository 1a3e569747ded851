#include <algorithm>

#include "package/package.h"

namespace dsbuild {
namespace {

const char* const k_installer = "dsbuild";
const char* const k_dist_info = ".dist-info";

Path staging_folder(const Package& package, const Path& target) {
  return target / ("." + package.name + ".dsbuild-staging");
}

Result<void> stage(const Package& package, const Path& staging, FileSystem& files) {
  DSBUILD_CHECK(files.remove_all(staging));
  for (const PackageFile& file : distribution_files(package, k_installer)) {
    DSBUILD_CHECK(files.make_directories((staging / file.path).parent_path()));
    DSBUILD_CHECK(files.write_file(staging / file.path, file.bytes, true));
  }
  return {};
}

// Where folders cannot be exchanged (those of a lower layer of an image), the old one goes first.
Result<void> put_in_place(const Path& staged, const Path& place, FileSystem& files) {
  if (files.kind(place) == FileKind::directory) {
    auto exchanged = files.exchange(staged, place);
    if (exchanged || exchanged.error().code != "cannot_exchange") return exchanged;
    DSBUILD_CHECK(files.remove_all(place));
  }
  return files.rename(staged, place);
}

bool is_dist_info_of(const std::string& name, const std::string& file) {
  return file.rfind(name + "-", 0) == 0 && Path(file).extension() == k_dist_info;
}

// Those of other versions, and of this one by another installer.
Result<void> remove_dist_info(const std::string& name, const Path& target, FileSystem& files) {
  DSBUILD_TRY(names, files.list(target));
  for (const std::string& file : names)
    if (is_dist_info_of(name, file)) DSBUILD_CHECK(files.remove_all(target / file));
  return {};
}

bool is_ours(const Path& dist_info, const FileReader& files) {
  return files.read_file(dist_info / "INSTALLER").value_or("") == std::string(k_installer) + "\n";
}

// The folder of facts comes last: until it is gone, removing can be tried again.
Result<void> remove_package(const std::string& name, const Path& target, FileSystem& files) {
  DSBUILD_CHECK(files.remove_all(target / (name + ".pth")));
  DSBUILD_CHECK(files.remove_all(target / name));
  return remove_dist_info(name, target, files);
}

Result<void> lay_out(const Package& package, const Path& target, const Path& staging, FileSystem& files) {
  DSBUILD_CHECK(stage(package, staging, files));
  DSBUILD_CHECK(put_in_place(staging / package.name, target / package.name, files));
  if (!package.start_file.empty())
    DSBUILD_CHECK(files.rename(staging / package.start_file, target / package.start_file));
  DSBUILD_CHECK(remove_dist_info(package.name, target, files));
  DSBUILD_CHECK(files.rename(staging / package.dist_info(), target / package.dist_info()));
  return files.sync_directory(target);
}

}  // namespace

Result<void> install_package(const Package& package, const Path& target, FileSystem& files) {
  const Path staging = staging_folder(package, target);
  const auto laid_out = lay_out(package, target, staging, files);
  const auto swept = files.remove_all(staging);  // a disk that is full gets its space back
  return laid_out ? swept : laid_out;
}

Result<std::vector<std::string>> remove_packages(const Path& target, FileSystem& files) {
  std::vector<std::string> removed;
  DSBUILD_TRY(names, files.list(target));
  for (const std::string& file : names) {
    if (Path(file).extension() != k_dist_info || !is_ours(target / file, files)) continue;
    const std::string distribution = Path(file).stem().string();
    DSBUILD_CHECK(remove_package(distribution.substr(0, distribution.find('-')), target, files));
    removed.push_back(distribution);
  }
  if (!removed.empty()) return removed;
  return fail(Exit::failed, "not_installed", target.string(),
              "holds nothing that `dsbuild install` put there",
              "What pip installed, pip removes: pip uninstall dsbuild-deepspeed-ops.");
}

}  // namespace dsbuild
